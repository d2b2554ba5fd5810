import * as v from 'valibot'
import { ToolError } from '../../src/agent/types.ts'
import type { FileAccess } from '../workspace/files/access.ts'
import { tool } from './tool.ts'

const MAX_SEARCHES = 20

const search = v.object({
  query: v.pipe(
    v.string(),
    v.nonEmpty('must not be blank'),
    v.description('Regular expression (Rust syntax) to find in a line'),
  ),
  case_sensitive: v.optional(v.pipe(v.boolean(), v.description('Default false')), false),
  include_pattern: v.nullish(
    v.pipe(v.string(), v.description('Glob of files to search, for example "*.tf" or "modules/**"')),
  ),
  exclude_pattern: v.nullish(v.pipe(v.string(), v.description('Glob of files to leave out'))),
})

export const bulkGrepSearch = (access: FileAccess) =>
  tool({
    name: 'bulk_grep_search',
    description:
      'Search the text of all files with regular expressions, several at once. Every match is a line "file:line:text"; ' +
      `each search answers at most 50 matches, a call takes at most ${MAX_SEARCHES} searches. Files that git ignores are left out.`,
    schema: v.object({
      searches: v.pipe(
        v.array(search),
        v.minLength(1, 'must hold at least one search'),
        v.maxLength(MAX_SEARCHES, `must hold at most ${MAX_SEARCHES} searches`),
        v.description('What to look for'),
      ),
      explanation: v.optional(v.pipe(v.string(), v.description('Why these searches are made, in one sentence'))),
    }),
    run: async ({ searches }, signal) => {
      const answers: string[] = []
      for (const { query, case_sensitive, include_pattern, exclude_pattern } of searches) {
        const options = {
          query,
          case_sensitive,
          include_pattern: include_pattern ?? undefined,
          exclude_pattern: exclude_pattern ?? undefined,
        }
        answers.push(`Matches of ${JSON.stringify(query)}:\n${await outcome(access.grep(options, signal))}`)
      }
      return answers.join('\n\n')
    },
  })

/** One bad pattern does not cost the other searches their answers. */
async function outcome(lines: Promise<string[]>): Promise<string> {
  try {
    return (await lines).join('\n') || '(none)'
  } catch (error) {
    if (error instanceof ToolError) return error.message
    throw error
  }
}
