import * as v from 'valibot'
import type { FileAccess } from '../workspace/files/access.ts'
import { explanation, tool } from './tool.ts'

export const writeToFile = (access: FileAccess) =>
  tool({
    name: 'write_to_file',
    description:
      'Create a file, or replace its whole content. Missing directories are created. Only .tf and .tfvars files. ' +
      'Give the complete text: nothing of an existing file is kept. For a small change of an existing file use replace_in_file.',
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
      await access.write(target_file, content)
      return `File ${target_file} was written`
    },
  })
