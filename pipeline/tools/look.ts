import * as v from 'valibot'
import { type Tool, ToolError } from '../../src/agent/agent-request.ts'
import { describeDiff } from '../../src/chains/shared/branch-diff.ts'
import type { FileAccess } from '../workspace/files/access.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { defineTool, optionalText } from './tool.ts'

const listNames = (names: readonly string[]) => (names.length > 0 ? names.join('\n') : 'The directory is empty')

const MAX_SEARCHES = 20

const SearchSchema = v.object({
  query: v.pipe(v.string(), v.nonEmpty('must not be blank'), v.description('Regular expression, Rust syntax')),
  case_sensitive: v.optional(v.boolean(), false),
  include_pattern: optionalText('Glob, such as "*.tf" or "modules/**"'),
  exclude_pattern: optionalText('Glob'),
})

/** Returns the matches of a search as text. An invalid pattern becomes a message, so that other searches continue. */
async function describeMatches(lines: Promise<string[]>): Promise<string> {
  try {
    return (await lines).join('\n') || '(none)'
  } catch (error) {
    if (error instanceof ToolError) return error.message
    throw error
  }
}

/** Maximum characters of the diff of a session. */
const MAX_HISTORY = 200_000

/** Returns the tools that read the workspace and change nothing. */
export const inspectionTools = (access: FileAccess, workspace: Pick<Workspace, 'branchDiff'>): Tool[] => [
  defineTool({
    name: 'read_file',
    description:
      'Read a text file of the workspace, or outside of it one that its code uses (module, path in the code, link). It ' +
      'is cut after 200,000 characters.',
    schema: v.object({
      target_file: v.pipe(
        v.string(),
        v.description('From the workspace root, such as "main.tf" or "../../modules/net/main.tf"'),
      ),
    }),
    reads: true,
    run: ({ target_file }) =>
      access.read(target_file).catch(async (error: unknown) => {
        const names = error instanceof ToolError ? await access.list(target_file).catch(() => null) : null
        if (names === null) throw error
        return `${target_file} is a directory. Read one of its files:\n${listNames(names)}`
      }),
  }),
  defineTool({
    name: 'list_dir',
    description:
      'List a directory, one path a line from the workspace root, directories with a slash at the end, without files ' +
      'that git ignores.',
    schema: v.object({
      relative_workspace_path: v.pipe(v.string(), v.description('From the workspace root, which is "."')),
    }),
    reads: true,
    run: async ({ relative_workspace_path }) => listNames(await access.list(relative_workspace_path)),
  }),
  defineTool({
    name: 'bulk_grep_search',
    description:
      'Search all files but those that git ignores, also those outside that the code uses. Matches are lines ' +
      `"file:line:text", at most 50 for each of at most ${MAX_SEARCHES} searches.`,
    schema: v.object({
      searches: v.pipe(
        v.array(SearchSchema),
        v.minLength(1, 'must hold at least one search'),
        v.maxLength(MAX_SEARCHES, `must hold at most ${MAX_SEARCHES} searches`),
      ),
      explanation: v.optional(v.string()),
    }),
    reads: true,
    run: async ({ searches }, signal) => {
      const answers: string[] = []
      for (const search of searches) {
        const matches = await describeMatches(access.grep(search, signal))
        answers.push(`Matches of ${JSON.stringify(search.query)}:\n${matches}`)
      }
      return answers.join('\n\n')
    },
  }),
  defineTool({
    name: 'diff_history',
    description:
      'Show what this session has changed so far: its branch against the default branch, then new files, whole. The ' +
      'answer changes only after a file was changed.',
    schema: v.object({ explanation: v.optional(v.string()) }),
    reads: true,
    run: async () => describeDiff(await workspace.branchDiff(), MAX_HISTORY) || 'Nothing was changed yet',
  }),
]
