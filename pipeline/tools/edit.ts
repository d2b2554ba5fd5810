import * as v from 'valibot'
import type { Tool } from '../../src/agent/agent-request.ts'
import type { FileAccess } from '../workspace/files/access.ts'
import { BLOCK_FORM } from '../workspace/files/search-replace.ts'
import { defineTool, explanation } from './tool.ts'

export const fileTools = (access: FileAccess): Tool[] => [
  defineTool({
    name: 'write_to_file',
    description:
      'Create a file, or replace its whole content. Missing directories are created. Only .tf, .tfvars, .tf.json and ' +
      '.tofu.json files; the last two must stay JSON. ' +
      'Give the complete text: nothing of an existing file is kept. For a small change of an existing file ' +
      'use replace_in_file.',
    schema: v.object({
      target_file: v.pipe(
        v.string(),
        v.description('Path relative to the workspace root, for example "network.tf" or "modules/net/main.tf"'),
      ),
      content: v.pipe(v.string(), v.description('The complete text of the file')),
      explanation,
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
      `Change parts of an existing .tf, .tfvars, .tf.json or .tofu.json file with one or more blocks of this form:\n${BLOCK_FORM}\n` +
      'The search lines must match the file exactly, blanks and indentation included, and occur exactly ' +
      'once; read the file first. ' +
      'Blocks are applied in order. When one block does not fit, the file is left untouched. An empty ' +
      'replacement removes the lines.',
    schema: v.object({
      target_file: v.pipe(v.string(), v.description('Path of an existing file, relative to the workspace root')),
      diff: v.pipe(v.string(), v.description('The search/replace blocks, nothing else')),
      explanation,
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
      'Delete one .tf, .tfvars, .tf.json or .tofu.json file. Resources it declares will be destroyed by the next apply unless they ' +
      'are declared elsewhere.',
    schema: v.object({
      target_file: v.pipe(v.string(), v.description('Path of an existing file, relative to the workspace root')),
      explanation,
    }),
    mutates: true,
    run: async ({ target_file }) => {
      await access.remove(target_file)
      return `File ${target_file} was deleted`
    },
  }),
]
