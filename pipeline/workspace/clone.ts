import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../../config/types.ts'
import { internal, type PlatformError } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import { STATE_KEYS_FILE } from '../../src/plan/state/managed-state.ts'
import { MASKS_FILE, WORKSPACE_MARKER } from './files/engine-files.ts'
import type { Git } from './git/git.ts'

const TIMEOUT_MS = 300_000

/**
 * Clones the newest commit of the default branch without checkout. Git directory and work tree must not exist yet,
 * unlike the folders above them. Errors: 500 `git clone failed`, with git's text in the log only; 400 for an address
 * that is not public; 422 for a repository over the limits.
 * @returns the name of the default branch
 */
export async function cloneRepository(git: Git, options: { log: Logger; signal?: AbortSignal }): Promise<string> {
  const { log, signal } = options
  const { directory, workTree } = git.place
  const args = [
    'clone',
    '--quiet',
    '--no-checkout',
    '--depth=1',
    '--no-tags',
    '--no-recurse-submodules',
    '--',
    git.url,
    directory,
  ]
  const output = await git.network(args, { cwd: dirname(directory), timeoutMs: TIMEOUT_MS, signal })
  if (output.code !== 0) throw logCloneFailure(log, output.stopped ?? output.stderr)
  // Every call names the work tree, because the directory of a kept clone is moved.
  await git.run(['config', '--unset-all', 'core.worktree'], { signal })
  const head = await git.local(['rev-parse', '--symbolic-full-name', '--verify', 'HEAD'], { cwd: workTree, signal })
  const [, branch] = /^refs\/heads\/(.+)$/.exec(head.stdout.trim()) ?? []
  if (head.code !== 0 || !branch) throw logCloneFailure(log, 'the default branch has no commit')
  return branch
}

function logCloneFailure(log: Logger, reason: string): PlatformError {
  log.error('git clone failed', { reason })
  return internal('git clone failed')
}

/** Working files of the engine, and secrets. Variable files and lock files belong to the change and are not listed. */
const IGNORE_RULES = [
  '.terraform/',
  '*.tfstate',
  '*.tfstate.*',
  'crash.log',
  'crash.*.log',
  'override.tf',
  'override.tf.json',
  '*_override.tf',
  '*_override.tf.json',
  'override.tofu',
  'override.tofu.json',
  '*_override.tofu',
  '*_override.tofu.json',
  '.terraformrc',
  'terraform.rc',
  '*_key_file.pem',
  '*.sh',
  'plan*.txt',
  '*.plan',
  STATE_KEYS_FILE,
]

/** Disables a repository's attributes: no conversion enlarges a file, no attribute hides a change from a diff. */
const ATTRIBUTES = '* -text !eol -ident -filter -working-tree-encoding !diff !merge !whitespace\n'

/** Writes ignore rules and attributes to the git directory, outside of pull requests. Failures are logged. */
export async function writeRules({ place }: Git, paths: Config['paths'], log: Logger): Promise<void> {
  const own = [paths.backend_override_filename, paths.session_plan_filename, WORKSPACE_MARKER, MASKS_FILE]
  const info = join(place.directory, 'info')
  try {
    await mkdir(info, { recursive: true })
    await appendFile(join(info, 'exclude'), `${[...IGNORE_RULES, ...own].join('\n')}\n`)
    await writeFile(join(info, 'attributes'), ATTRIBUTES)
  } catch (error) {
    log.warn('ignore rules were not written', { reason: error })
  }
}

/** Marks the root of a clone for the iac sidecar. An existing entry with this name is left unchanged. */
export async function writeMarker(workTree: string): Promise<void> {
  await writeFile(join(workTree, WORKSPACE_MARKER), '', { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
