import * as v from 'valibot'
import type { Workspace } from '../workspace/types.ts'
import { tool } from './tool.ts'

export const diffHistory = (workspace: Pick<Workspace, 'branchDiff'>) =>
  tool({
    name: 'diff_history',
    description:
      'Show everything this session has changed so far: the diff of the session branch against the default branch, ' +
      'followed by the full text of new files. Use it once; its answer changes only after a file was changed.',
    schema: v.object({
      explanation: v.optional(v.pipe(v.string(), v.description('What you want to learn from the changes')), ''),
    }),
    once_per_state: true,
    run: async ({ explanation }) => ({
      diff: (await workspace.branchDiff()) || 'Nothing was changed yet',
      explanation,
    }),
  })
