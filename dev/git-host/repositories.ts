import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { readText, withTemporaryFolder } from '../files.ts'

export interface Repository {
  owner: string
  name: string
  /** Absolute path of the bare repository. */
  path: string
  /** True if reading needs credentials as well. */
  private: boolean
  rules: Rules
}

/** What a host may say of a repository. */
export interface Rules {
  /** Nobody may push; the host's words for it, as GitHub answers them with 403. */
  no_push?: string
  /** `<owner>/<name>` after a rename; requests are redirected there. */
  moved_to?: string
  /** A shell pattern of branches that nobody may create, as rule sets of GitHub have it. */
  refused_branches?: string
}

/** Content of a first commit: a folder on disk, or files by path (`symlink` makes a link). */
type RepositoryContent = { folder: string } | { files: Files }
type Files = Record<string, string | Uint8Array | { symlink: string }>

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?$/

const repositoryPath = (dataDir: string, owner: string, name: string): string =>
  join(dataDir, 'repositories', owner, `${name}.git`)

/** Finds a repository; null if there is none. A name with unsafe characters counts as missing. */
export async function findRepository(dataDir: string, owner: string, name: string): Promise<Repository | null> {
  if (!NAME.test(owner) || !NAME.test(name)) return null
  const path = repositoryPath(dataDir, owner, name)
  const flags = await readText(join(path, 'platform-host.json'))
  if (flags === null) return null
  const { private: isPrivate, rules = {} } = JSON.parse(flags) as Pick<Repository, 'private'> & { rules?: Rules }
  return { owner, name, path, private: isPrivate, rules }
}

export async function listRepositories(dataDir: string): Promise<Repository[]> {
  const root = join(dataDir, 'repositories')
  const repositories: Repository[] = []
  for (const owner of (await readdir(root).catch(() => [])).sort()) {
    for (const entry of (await readdir(join(root, owner)).catch(() => [])).sort()) {
      const repository = entry.endsWith('.git') ? await findRepository(dataDir, owner, entry.slice(0, -4)) : null
      if (repository) repositories.push(repository)
    }
  }
  return repositories
}

/** Moves a bare repository to another path, and leaves behind what redirects to its new name. */
export async function renameRepository(from: string, to: string, name: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await rename(from, to)
  await mkdir(from)
  await writeFile(join(from, 'platform-host.json'), JSON.stringify({ private: false, rules: { moved_to: name } }))
}

export interface NewRepository {
  owner: string
  name: string
  content?: RepositoryContent
  private?: boolean
  rules?: Rules
}

/** Creates a bare repository with one commit on `main`, or an empty one. An existing one is not changed. */
export async function createRepository(dataDir: string, options: NewRepository): Promise<Repository> {
  const { owner, name, content, private: isPrivate = false, rules = {} } = options
  if (!NAME.test(owner) || !NAME.test(name)) throw new Error(`no valid repository name: ${owner}/${name}`)
  const existing = await findRepository(dataDir, owner, name)
  if (existing) return existing
  const path = repositoryPath(dataDir, owner, name)
  await rm(path, { recursive: true, force: true })
  await mkdir(dirname(path), { recursive: true })
  await gitOrThrow(['init', '--quiet', '--bare', '--initial-branch=main', '--template=', path])
  await appendFile(join(path, 'config'), SERVER_OPTIONS)
  if (content) await commitContent(path, content)
  if (rules.refused_branches !== undefined) {
    await mkdir(join(path, 'hooks'))
    await writeFile(join(path, 'hooks', 'pre-receive'), refusingHook(rules.refused_branches), { mode: 0o755 })
  }
  await writeFile(join(path, 'platform-host.json'), JSON.stringify({ private: isPrivate, rules }))
  return { owner, name, path, private: isPrivate, rules }
}

/** A hook that refuses branches with the words of GitHub's rule sets. */
const refusingHook = (pattern: string) => `#!/bin/sh
while read -r _ _ ref; do
  case "$ref" in refs/heads/${pattern})
    printf 'error: GH013: Repository rule violations found for %s.\\n\\n- Cannot create ref due to creations being restricted.\\n' "$ref" >&2
    exit 1
  esac
done
`

/**
 * Settings that allow shallow and partial clones of any commit, as the large hosts do. They are written as a part of the
 * file, because `git config` would be one more process for each of them, and tests make hundreds of repositories.
 */
const SERVER_OPTIONS = `[uploadpack]
	allowReachableSHA1InWant = true
	allowAnySHA1InWant = true
	allowTipSHA1InWant = true
	allowFilter = true
[receive]
	shallowUpdate = true
`

const commitContent = (path: string, content: RepositoryContent): Promise<void> =>
  withTemporaryFolder(async (temporary) => {
    const tree = 'folder' in content ? content.folder : await writeTree(join(temporary, 'tree'), content.files)
    const options = { cwd: tree, env: { GIT_DIR: path, GIT_WORK_TREE: tree, GIT_INDEX_FILE: join(temporary, 'index') } }
    await gitOrThrow(['add', '--all', '.'], options)
    await gitOrThrow(['commit', '--quiet', '--allow-empty', '-m', 'Initial import'], options)
  })

async function writeTree(root: string, files: Files): Promise<string> {
  await mkdir(root, { recursive: true })
  for (const [name, body] of Object.entries(files)) {
    const target = join(root, name)
    await mkdir(dirname(target), { recursive: true })
    if (typeof body === 'object' && 'symlink' in body) await symlink(body.symlink, target)
    else await writeFile(target, body)
  }
  return root
}

/** Reads the commit id of a branch; null if there is none. As a full reference the name cannot act as an option. */
export async function branchCommit(repository: Repository, branch: string): Promise<string | null> {
  const reference = `refs/heads/${branch}^{commit}`
  const output = await git(['--git-dir', repository.path, 'rev-parse', '--verify', '--quiet', reference])
  return output.code === 0 ? output.stdout.trim() : null
}

export async function defaultBranch(repository: Repository): Promise<string> {
  return gitOrThrow(['--git-dir', repository.path, 'symbolic-ref', '--short', 'HEAD'])
}

interface GitSetting {
  cwd?: string
  env?: Record<string, string>
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Sample Host',
  GIT_AUTHOR_EMAIL: 'sample-host@noreply.invalid',
  GIT_COMMITTER_NAME: 'Sample Host',
  GIT_COMMITTER_EMAIL: 'sample-host@noreply.invalid',
}

/** Makes an environment for git without the operator's configuration, prompts and hooks. */
export function createGitEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    LC_ALL: 'C',
    ...IDENTITY,
    ...extra,
  }
}

/** Options of every command: the folders may belong to another user, and git must start no programs by itself. */
export const GIT_OPTIONS = [
  ...['-c', 'safe.directory=*', '-c', 'core.hooksPath=/dev/null'],
  ...['-c', 'gc.auto=0', '-c', 'maintenance.auto=false'],
]

/** Runs git and returns its output, whatever its exit code is. Errors: it cannot be started. */
export async function git(args: readonly string[], { cwd, env }: GitSetting = {}) {
  const child = spawn('git', [...GIT_OPTIONS, ...args], {
    cwd,
    env: createGitEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  })
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { code: Number(code ?? 1), stdout, stderr }
}

/** Runs git, but throws git's own text if the exit code is not 0. */
export async function gitOrThrow(args: readonly string[], setting: GitSetting = {}): Promise<string> {
  const output = await git(args, setting)
  if (output.code !== 0) throw new Error(`git ${args[0]} failed: ${output.stderr.trim() || output.stdout.trim()}`)
  return output.stdout.trim()
}
