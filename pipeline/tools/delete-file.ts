import * as v from 'valibot'
import type { FileAccess } from '../workspace/files/access.ts'
import { explanation, tool } from './tool.ts'

export const deleteFile = (access: FileAccess) =>
  tool({
    name: 'delete_file',
    description:
      'Delete one .tf or .tfvars file. Resources it declares will be destroyed by the next apply unless they are declared elsewhere.',
    schema: v.object({
      target_file: v.pipe(v.string(), v.description('Path of an existing file, relative to the workspace root')),
      explanation,
    }),
    mutates: true,
    run: async ({ target_file }) => {
      await access.remove(target_file)
      return `File ${target_file} was deleted`
    },
  })
