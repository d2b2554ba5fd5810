import * as v from 'valibot'
import type { FileAccess } from '../workspace/files/access.ts'
import { explanation, tool } from './tool.ts'

export const readFile = (access: FileAccess) =>
  tool({
    name: 'read_file',
    description: 'Read a text file. The answer is the whole text; after 200,000 characters it is cut with a note.',
    schema: v.object({
      target_file: v.pipe(v.string(), v.description('Path relative to the workspace root')),
      explanation,
    }),
    run: ({ target_file }) => access.read(target_file),
  })
