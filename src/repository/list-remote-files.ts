import { addRemote, fetch as fetchPack, init, readTree } from 'isomorphic-git'
import { checkedFetch } from './checked-fetch.ts'
import { gitHttp } from './git-http.ts'
import { memoryFs } from './memory-fs.ts'
import { type GitContext, remoteUrl } from './remote.ts'
import { credentials } from './remote-head.ts'

const MAX_PACK_BYTES = 48 * 1024 * 1024
const MAX_FILES = 500_000
const GITDIR = '/repository'

type Repository = { fs: ReturnType<typeof memoryFs>; gitdir: string; cache: object }

/**
 * Fetches the newest commit of the default branch into memory, without file contents where the server
 * can leave them out.
 * @returns the commit and a handle for `listFiles`
 */
export async function fetchNewest(
  context: GitContext,
  uri: string,
  options: { timeout_ms: number; signal: AbortSignal },
) {
  const url = remoteUrl(context.config.git, uri)
  const fetch = await checkedFetch(context, url, options.signal)
  const repository: Repository = { fs: memoryFs(4 * MAX_PACK_BYTES), gitdir: GITDIR, cache: {} }
  await init({ ...repository, bare: true })
  await addRemote({ ...repository, remote: 'origin', url: url.href })
  const { fetchHead } = await fetchPack({
    ...repository,
    http: gitHttp(fetch, { ...options, max_bytes: MAX_PACK_BYTES, blobless: true }),
    url: url.href,
    depth: 1,
    singleBranch: true,
    tags: false,
    ...credentials(context, url),
  })
  return { repository, commit: fetchHead }
}

/** All file paths of a commit, relative to the repository root. */
export async function listFiles(repository: Repository, commit: string, signal: AbortSignal): Promise<string[]> {
  const files: string[] = []
  const pending = [{ oid: commit, prefix: '' }]
  for (let next = pending.pop(); next; next = pending.pop()) {
    signal.throwIfAborted()
    const { tree } = await readTree({ ...repository, oid: next.oid })
    for (const entry of tree) {
      if (entry.type === 'tree') pending.push({ oid: entry.oid, prefix: `${next.prefix}${entry.path}/` })
      else files.push(next.prefix + entry.path)
    }
    if (files.length + pending.length > MAX_FILES) throw new Error(`the repository holds more than ${MAX_FILES} files`)
  }
  return files
}
