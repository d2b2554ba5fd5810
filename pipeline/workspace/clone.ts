import { appendFile, mkdir, realpath, rm } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import type { Config } from '../../config/types.ts'
import { internal, type PlatformError } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import { isInside, resolveLink } from './files/confine.ts'
import { type Git, mustSucceed } from './git/git.ts'

const TIMEOUT_MS = 300_000

/**
 * Clones the newest commit of the default branch.
 * @param directory absolute path that does not exist yet
 * @returns the name of the default branch
 * Errors: 500 `git clone failed`, with git's own text in the log only; 400 for an address that is not public.
 */
export async function cloneRepository(
  git: Git,
  directory: string,
  options: { log: Logger; signal?: AbortSignal },
): Promise<string> {
  const { log, signal } = options
  const parent = dirname(directory)
  await mkdir(parent, { recursive: true })
  const args = [
    'clone',
    '--quiet',
    '--depth=1',
    '--no-tags',
    '--no-recurse-submodules',
    '--',
    git.url,
    basename(directory),
  ]
  const output = await git.network(args, { cwd: parent, timeoutMs: TIMEOUT_MS, signal })
  if (output.code !== 0) throw logCloneFailure(log, output.stopped ?? output.stderr)
  const head = await git.local(['rev-parse', '--symbolic-full-name', '--verify', 'HEAD'], { cwd: directory, signal })
  const [, branch] = /^refs\/heads\/(.+)$/.exec(head.stdout.trim()) ?? []
  if (head.code !== 0 || !branch) throw logCloneFailure(log, 'the default branch has no commit')
  return branch
}

function logCloneFailure(log: Logger, reason: string): PlatformError {
  log.error('git clone failed', { reason })
  return internal('git clone failed')
}

/** Working files of the engine, and secrets. Variable files and lock files are missing: they belong to the change. */
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
  '.terraformrc',
  'terraform.rc',
  '*_key_file.pem',
  '*.sh',
  'plan*.txt',
  '*.plan',
]

/**
 * Writes ignore rules that keep files of the engine out of every commit of this clone. They are in git's own
 * directory, because a `.gitignore` file would become part of the pull request. A failure is only logged.
 */
export async function writeIgnoreRules(clone: string, paths: Config['paths'], log: Logger): Promise<void> {
  const rules = [...IGNORE_RULES, paths.backend_override_filename, paths.session_plan_filename]
  try {
    await mkdir(join(clone, '.git', 'info'), { recursive: true })
    await appendFile(join(clone, '.git', 'info', 'exclude'), `${rules.join('\n')}\n`)
  } catch (error) {
    log.warn('ignore rules were not written', { reason: error })
  }
}

/**
 * Removes entries from the work tree that must not reach the engine. These are symlinks that lead out of the clone
 * or into git's own directory, because the engine would read files of the machine or of other sessions through them,
 * and folders for plugins, because the engine would run programs of the repository. They stay on the branch: git's
 * index marks them as not present, so that no commit deletes them.
 */
export async function removeUnsafeEntries(
  git: Git,
  clone: string,
  options: { log: Logger; signal?: AbortSignal },
): Promise<void> {
  const { log, signal } = options
  const listed = await git.local(['ls-files', '--stage', '-z'], { cwd: clone, signal })
  mustSucceed(git, clone, listed)
  const root = await realpath(clone)
  const unsafe: string[] = []
  for (const line of listed.stdout.split('\0').filter(Boolean)) {
    const path = line.slice(line.indexOf('\t') + 1)
    if (isPluginFolder(path) || (line.startsWith('120000 ') && (await isUnsafeLink(root, path)))) unsafe.push(path)
  }
  if (unsafe.length === 0) return
  const input = `${unsafe.join('\0')}\0`
  const marked = await git.local(['update-index', '--skip-worktree', '-z', '--stdin'], { cwd: clone, input, signal })
  mustSucceed(git, clone, marked)
  for (const path of unsafe) await rm(join(root, path), { force: true })
  log.warn('unsafe entries of the repository were taken out of the work tree', {
    paths: unsafe.slice(0, 20),
    count: unsafe.length,
  })
}

const isPluginFolder = (path: string): boolean =>
  path.split('/').some((segment) => /^(\.terraform|terraform\.d)$/i.test(segment))

/** Whether a path of the repository is a symlink that leads out of the clone or into git's own directory. */
async function isUnsafeLink(root: string, path: string): Promise<boolean> {
  const target = await resolveLink(join(root, path))
  if (target === null) return false
  return !isInside(root, target) || isInside(join(root, '.git'), target.split(sep).map(lowerGit).join(sep))
}

const lowerGit = (segment: string): string => (segment.toLowerCase() === '.git' ? '.git' : segment)
