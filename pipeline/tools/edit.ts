import * as v from 'valibot'
import type { Tool } from '../../src/agent/agent-request.ts'
import type { FileAccess } from '../workspace/files/access.ts'
import { BLOCK_FORM } from '../workspace/files/search-replace.ts'
import { defineTool } from './tool.ts'

export const fileTools = (access: FileAccess): Tool[] => [
  defineTool({
    name: 'write_to_file',
    description:
      'Create a .tf, .tfvars, .tf.json or .tofu.json file with its directories, or replace a whole one, of which ' +
      'nothing is kept. The last two must stay JSON. Change parts of a file with replace_in_file.',
    schema: v.object({
      target_file: v.pipe(
        v.string(),
        v.description('Path from the workspace root, such as "network.tf" or "modules/net/main.tf"'),
      ),
      content: v.pipe(v.string(), v.description('The whole text')),
    }),
    mutates: true,
    run: async ({ target_file, content }) => {
      const changed = await access.write(target_file, content)
      return changed ? `File ${target_file} was written` : `File ${target_file} already has this content`
    },
  }),
  defineTool({
    name: 'replace_in_file',
    description:
      `Change parts of an existing code file with one or more blocks of this form:\n${BLOCK_FORM}\n` +
      'The search lines match the file exactly, indentation included, and occur once; read the file first. Blocks are ' +
      'applied in order; if one does not fit, nothing is changed. An empty replacement removes the lines.',
    schema: v.object({
      target_file: v.string(),
      diff: v.pipe(v.string(), v.description('The blocks, nothing else')),
    }),
    mutates: true,
    run: async ({ target_file, diff }) => {
      await access.replace(target_file, diff)
      return `File ${target_file} was changed`
    },
  }),
  defineTool({
    name: 'delete_file',
    description:
      'Delete a code file. What it declares is destroyed by the next apply, unless it is declared elsewhere.',
    schema: v.object({ target_file: v.string() }),
    mutates: true,
    run: async ({ target_file }) => {
      await access.remove(target_file)
      return `File ${target_file} was deleted`
    },
  }),
]
