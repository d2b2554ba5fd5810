import { appendFile, lstat, mkdir, readlink, realpath, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { Config } from '../../config/types.ts'
import { internal, type PlatformError } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import { isInside } from './files/confine.ts'
import { type Git, mustSucceed } from './git/git.ts'

const TIMEOUT_MS = 300_000

/**
 * Clones the newest commit of the default branch and answers that branch's name.
 * @param directory absolute path that does not exist yet
 * Errors: 500 `git clone failed`; git's own words are in the log only. An address that is not public
 * keeps its own text.
 */
export async function clone(
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
  const output = await git.network(args, { cwd: parent, timeout_ms: TIMEOUT_MS, signal })
  if (output.code !== 0) throw failed(log, output.stopped ?? output.stderr)
  const head = await git.local(['rev-parse', '--symbolic-full-name', '--verify', 'HEAD'], { cwd: directory, signal })
  const [, branch] = /^refs\/heads\/(.+)$/.exec(head.stdout.trim()) ?? []
  if (head.code !== 0 || !branch) throw failed(log, 'the default branch has no commit')
  return branch
}

function failed(log: Logger, reason: string): PlatformError {
  log.error('git clone failed', { reason })
  return internal('git clone failed')
}

/** Working files of the engine and secrets. Variable and lock files are left in: they belong to the change. */
const RULES = [
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
 * Keeps engine files out of every commit of this clone without touching the work tree, so that no
 * change of ours enters a pull request. A failure is only a warning.
 */
export async function writeIgnoreRules(clone: string, paths: Config['paths'], log: Logger): Promise<void> {
  const rules = [...RULES, paths.backend_override_filename, paths.session_plan_filename]
  try {
    await mkdir(join(clone, '.git', 'info'), { recursive: true })
    await appendFile(join(clone, '.git', 'info', 'exclude'), `${rules.join('\n')}\n`)
  } catch (error) {
    log.warn('ignore rules were not written', { reason: error })
  }
}

/**
 * Takes out of the work tree what must not reach the engine: symlinks that lead out of the clone or
 * into git's own directory (it would follow them to files of the machine or of other sessions), and
 * folders it takes plugins from (it would run programs of the repository). All of it stays on the
 * branch: the index is told not to look, so that no commit deletes it.
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
    if (isPluginFolder(path) || (line.startsWith('120000 ') && (await escapes(root, path)))) unsafe.push(path)
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

/** A link is judged by where it ends; one that ends nowhere by what it says. */
async function escapes(root: string, link: string): Promise<boolean> {
  const path = join(root, link)
  const info = await lstat(path).catch(() => null)
  if (!info?.isSymbolicLink()) return false
  const target = await realpath(path).catch(async () => resolve(dirname(path), await readlink(path)))
  return !isInside(root, target) || isInside(join(root, '.git'), target.split(sep).map(lowerGit).join(sep))
}

const lowerGit = (segment: string): string => (segment.toLowerCase() === '.git' ? '.git' : segment)
