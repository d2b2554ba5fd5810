import { rgPath } from '@vscode/ripgrep'
import { ToolError } from '../../../src/agent/agent-request.ts'
import { runProcess } from '../git/run-process.ts'
import type { Enclosure } from './confine.ts'
import { hiddenNames } from './engine-files.ts'

export interface Search {
  query: string
  case_sensitive?: boolean
  /** Glob of files to search. */
  include_pattern?: string
  /** Glob of files to leave out. */
  exclude_pattern?: string
}

const MAX_MATCHES = 50
const TIMEOUT_MS = 30_000
const MAX_OUTPUT = 512 * 1024

/**
 * Searches for a regular expression and returns at most 50 lines `file:line:text`, relative to the root. Includes dot
 * files; ignored files only if `include_pattern` names them; never git's files or secrets. Errors: `ToolError` for an
 * invalid pattern, and after 30 s.
 */
export async function grep({ root, paths }: Enclosure, search: Search, signal?: AbortSignal): Promise<string[]> {
  const args = [
    ...[
      '--no-config',
      '--no-follow',
      '--no-ignore-dot',
      '--no-ignore-global',
      '--hidden',
      '--no-heading',
      '--line-number',
      '--with-filename',
      '--null',
      '--color=never',
    ],
    ...[
      '--no-messages',
      '--sort=path',
      '--max-columns=500',
      '--max-columns-preview',
      '--max-filesize=5M',
      `--max-count=${MAX_MATCHES}`,
    ],
    search.case_sensitive ? '--case-sensitive' : '--ignore-case',
    ...(search.include_pattern ? [`--glob=${search.include_pattern}`] : []),
    ...(search.exclude_pattern ? [`--glob=!${search.exclude_pattern.replace(/^!/, '')}`] : []),
    // Later globs win, so a pattern of the model cannot bring these files back.
    ...hiddenNames(paths).map((name) => `--iglob=!${name}`),
    `--regexp=${search.query}`,
    '--',
    './',
  ]
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: '/dev/null' }
  const output = await runProcess({
    file: rgPath,
    args,
    cwd: root,
    env,
    timeoutMs: TIMEOUT_MS,
    maxOutput: MAX_OUTPUT,
    signal,
  })
  signal?.throwIfAborted()
  if (output.stopped === 'timeout')
    throw new ToolError(`The search took longer than ${TIMEOUT_MS / 1000} s; use a simpler pattern`)
  if (output.code === 2 && output.stdout === '')
    throw new ToolError(`The search failed: ${describeFailure(output.stderr, root)}`)
  return output.stdout.split('\n').filter(Boolean).slice(0, MAX_MATCHES).map(toMatchLine)
}

const toMatchLine = (line: string): string => line.replace(/^\.\//, '').replace('\0', ':')

const describeFailure = (stderr: string, root: string): string =>
  stderr.replaceAll(root, '.').trim().slice(0, 1_000) || 'the pattern is not valid'
