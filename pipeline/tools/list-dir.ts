import * as v from 'valibot'
import type { FileAccess } from '../workspace/files/access.ts'
import { explanation, tool } from './tool.ts'

export const listDir = (access: FileAccess) =>
  tool({
    name: 'list_dir',
    description:
      'List the files and directories directly inside of one directory, one path a line, relative to the workspace root. ' +
      'Directories end with a slash. Files that git ignores are left out.',
    schema: v.object({
      relative_workspace_path: v.pipe(
        v.string(),
        v.description('Directory relative to the workspace root; "." is the root itself'),
      ),
      explanation,
    }),
    run: async ({ relative_workspace_path }) => {
      const names = await access.list(relative_workspace_path)
      return names.length > 0 ? names.join('\n') : 'The directory is empty'
    },
  })
