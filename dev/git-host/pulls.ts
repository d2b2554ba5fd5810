import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpBindings } from '@hono/node-server'
import { createKeyedLock, readText, writeAtomically } from '../files.ts'
import { git, gitOrThrow } from './git.ts'
import { branchCommit, type Repository } from './repositories.ts'

export interface Pull {
  number: number
  title: string
  body: string
  head: string
  base: string
  state: 'open' | 'closed'
  draft: boolean
  user: string
  created_at: string
  updated_at: string
  closed_at: string | null
  merged_at: string | null
  merge_commit_sha: string | null
  /** Commits of both branches when the pull request was closed. While it is open, the branches have them. */
  head_sha: string
  base_sha: string
}

type HostStatus = 400 | 401 | 404 | 405 | 409 | 422

/** An answer of the REST API with a status other than 2xx. */
export class HostError extends Error {
  readonly status: HostStatus
  readonly errors: object[] | undefined
  constructor(status: HostStatus, message: string, errors?: object[]) {
    super(message)
    this.status = status
    this.errors = errors
  }
}

const invalid = (error: Record<string, string>) =>
  new HostError(422, 'Validation Failed', [{ resource: 'PullRequest', ...error }])

/** The pull requests of the host. Each is a JSON file beside the objects of its repository. */
interface Pulls {
  list(repository: Repository): Promise<Pull[]>
  get(repository: Repository, number: number): Promise<Pull | null>
  /** Opens a pull request. Errors: `HostError` 422, with the reasons that GitHub gives. */
  create(
    repository: Repository,
    input: { title: string; body: string; head: string; base: string; draft: boolean },
  ): Promise<Pull>
  close(repository: Repository, number: number): Promise<Pull | null>
  /** Tries to merge the two branches; null once the pull request is closed. */
  mergeable(repository: Repository, pull: Pull): Promise<boolean | null>
  /** Writes a merge commit to the base branch. Errors: `HostError` 404, 405 and 409. */
  merge(
    repository: Repository,
    number: number,
    options: { sha?: string; title?: string; message?: string },
  ): Promise<string>
}

/** The host, as its routes see it. The address is known once it listens. */
export interface Site {
  url: string
  data_dir: string
  user: string
  token: string
  pulls: Pulls
}
export type HostEnv = { Bindings: HttpBindings; Variables: { authenticated: boolean } }

const store = (repository: Repository) => join(repository.path, 'platform-pulls.json')

async function read(repository: Repository): Promise<Pull[]> {
  const pulls = JSON.parse((await readText(store(repository))) ?? '[]') as Pull[]
  return Promise.all(pulls.map((pull) => (pull.state === 'open' ? withCurrentCommits(repository, pull) : pull)))
}

async function withCurrentCommits(repository: Repository, pull: Pull): Promise<Pull> {
  const [head_sha, base_sha] = await Promise.all([
    branchCommit(repository, pull.head),
    branchCommit(repository, pull.base),
  ])
  return { ...pull, head_sha: head_sha ?? pull.head_sha, base_sha: base_sha ?? pull.base_sha }
}

export function createPulls(user: string, now: () => Date = () => new Date()): Pulls {
  const locked = createKeyedLock()
  const change = <T>(repository: Repository, task: (pulls: Pull[]) => Promise<T>): Promise<T> =>
    locked(repository.path, async () => {
      const pulls = await read(repository)
      const result = await task(pulls)
      await writeAtomically(store(repository), JSON.stringify(pulls, null, 1))
      return result
    })
  return {
    list: read,
    get: async (repository, number) => (await read(repository)).find((pull) => pull.number === number) ?? null,
    create: (repository, input) =>
      change(repository, async (pulls) => {
        const { head_sha, base_sha } = await checkBranches(repository, pulls, input)
        const time = now()
          .toISOString()
          .replace(/\.\d+Z$/, 'Z')
        const pull: Pull = {
          ...input,
          number: pulls.length + 1,
          state: 'open',
          user,
          created_at: time,
          updated_at: time,
          closed_at: null,
          merged_at: null,
          merge_commit_sha: null,
          head_sha,
          base_sha,
        }
        pulls.push(pull)
        return pull
      }),
    close: (repository, number) =>
      change(repository, async (pulls) => {
        const pull = pulls.find((candidate) => candidate.number === number)
        if (pull?.state === 'open') settle(pull, now())
        return pull ?? null
      }),
    mergeable: async (repository, pull) =>
      pull.state === 'closed'
        ? null
        : (await tryMerge(repository, pull, { message: 'Trial merge', push: false })) !== null,
    merge: (repository, number, options) =>
      change(repository, async (pulls) => {
        const pull = pulls.find((candidate) => candidate.number === number)
        if (!pull) throw new HostError(404, 'Not Found')
        if (pull.state === 'closed' || pull.draft) throw new HostError(405, 'Pull Request is not mergeable')
        if (options.sha && options.sha !== pull.head_sha)
          throw new HostError(409, 'Head branch was modified. Review and try the merge again.')
        const title = options.title ?? `Merge pull request #${number} from ${repository.owner}/${pull.head}`
        const sha = await tryMerge(repository, pull, {
          message: `${title}\n\n${options.message ?? pull.title}`,
          push: true,
        })
        if (!sha) throw new HostError(405, 'Pull Request is not mergeable')
        settle(pull, now())
        pull.merged_at = pull.closed_at
        pull.merge_commit_sha = sha
        return sha
      }),
  }
}

function settle(pull: Pull, now: Date): void {
  pull.state = 'closed'
  pull.closed_at = pull.updated_at = now.toISOString().replace(/\.\d+Z$/, 'Z')
}

async function checkBranches(repository: Repository, pulls: Pull[], input: { head: string; base: string }) {
  const [head_sha, base_sha] = await Promise.all([
    branchCommit(repository, input.head),
    branchCommit(repository, input.base),
  ])
  if (!base_sha) throw invalid({ field: 'base', code: 'invalid' })
  if (!head_sha) throw invalid({ field: 'head', code: 'invalid' })
  if (pulls.some((pull) => pull.state === 'open' && pull.head === input.head && pull.base === input.base))
    throw invalid({ code: 'custom', message: `A pull request already exists for ${repository.owner}:${input.head}.` })
  const ahead = await gitOrThrow(['--git-dir', repository.path, 'rev-list', '--count', `${base_sha}..${head_sha}`])
  if (ahead === '0') throw invalid({ code: 'custom', message: `No commits between ${input.base} and ${input.head}` })
  return { head_sha, base_sha }
}

/** Merges and returns the id of the merge commit; null if the branches conflict or the base has moved meanwhile. */
async function tryMerge(
  repository: Repository,
  pull: Pull,
  options: { message: string; push: boolean },
): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-merge-'))
  try {
    await gitOrThrow(['clone', '--quiet', '--shared', '--no-checkout', repository.path, folder])
    await gitOrThrow(['checkout', '--quiet', '--detach', pull.base_sha], { cwd: folder })
    const merged = await git(['merge', '--quiet', '--no-ff', '--no-edit', '-m', options.message, pull.head_sha], {
      cwd: folder,
    })
    if (merged.code !== 0) return null
    const sha = await gitOrThrow(['rev-parse', 'HEAD'], { cwd: folder })
    if (!options.push) return sha
    const pushed = await git(['push', '--quiet', 'origin', `HEAD:refs/heads/${pull.base}`], { cwd: folder })
    return pushed.code === 0 ? sha : null
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
