import { addRemote, fetch as fetchCommit, init } from 'isomorphic-git'
import type { Slices } from '../base/slices.ts'
import { createCheckedFetch } from './allowed-addresses.ts'
import { createGitHttp, writeObjectRequest } from './git-http.ts'
import { credentials } from './head.ts'
import { createMemoryFs } from './memory-fs.ts'
import { type GitContext, remoteUrl } from './remote.ts'

export const MAX_PACK_BYTES = 48 * 1024 * 1024
/** Limit of all repository files: the pack, and little for configuration and references. */
const MAX_REPOSITORY_BYTES = MAX_PACK_BYTES + 1024 * 1024
const GITDIR = '/repository'
/** Location of the unread pack, outside the directory where the library looks for packs. */
const INCOMING_PACK = `${GITDIR}/incoming.pack`

interface FetchOptions {
  /** Limit of each request. */
  timeoutMs: number
  signal: AbortSignal
  slices: Slices
}

/**
 * Fetches the newest commit of the default branch without history, and without the file contents that the filter leaves
 * out, if the server supports it. The library handles the protocol; the pack is for `readPack`.
 * @param options.filter as for `git clone --filter`
 * @returns the hash of the commit, its pack, and whether the filter was used
 * Errors: `Errors.HttpError` of the library; plain ones when the server refuses or its answer cannot be read.
 */
export async function fetchNewestCommit(
  context: GitContext,
  uri: string,
  { filter, ...options }: FetchOptions & { filter: string },
): Promise<{ commit: string; pack: Uint8Array; isFiltered: boolean }> {
  const url = remoteUrl(context.config.git, uri)
  const fetch = await createCheckedFetch(context, url, options.signal)
  const repository = { fs: createMemoryFs(MAX_REPOSITORY_BYTES), gitdir: GITDIR, cache: {} }
  await init({ ...repository, bare: true })
  await addRemote({ ...repository, remote: 'origin', url: url.href })
  const files = repository.fs.promises
  let isFiltered = false
  const take = async (pack: Uint8Array, filtered: boolean) => {
    isFiltered = filtered
    await files.writeFile(INCOMING_PACK, pack)
  }
  const { fetchHead } = await fetchCommit({
    ...repository,
    http: createGitHttp(fetch, {
      ...options,
      maxBytes: MAX_PACK_BYTES,
      withPack: { take, filter, slices: options.slices },
    }),
    url: url.href,
    depth: 1,
    singleBranch: true,
    tags: false,
    ...credentials(context, url),
  })
  if (!fetchHead) throw new Error('the repository is empty')
  const pack = await files.readFile(INCOMING_PACK)
  await files.unlink(INCOMING_PACK)
  return { commit: fetchHead, pack, isFiltered }
}

/**
 * Fetches objects by their hashes, which any server of protocol version 2 allows.
 * @returns a pack for `readPack`
 * Errors: those of `createGitHttp`, and plain ones for a server that refuses.
 */
export async function fetchObjects(
  context: GitContext,
  uri: string,
  hashes: readonly string[],
  options: FetchOptions,
): Promise<Uint8Array> {
  const url = remoteUrl(context.config.git, uri)
  let pack = new Uint8Array()
  const take = async (bytes: Uint8Array<ArrayBuffer>) => {
    pack = bytes
  }
  const http = createGitHttp(await createCheckedFetch(context, url, options.signal), {
    ...options,
    maxBytes: MAX_PACK_BYTES,
    withPack: { take, filter: '', slices: options.slices },
  })
  const request = writeObjectRequest(url.href, hashes)
  let answer = await http.request(request())
  const auth = credentials(context, url).onAuth?.()
  if (answer.statusCode === 401 && auth) answer = await http.request(request(auth.headers))
  if (answer.statusCode !== 200 || pack.length === 0)
    throw new Error(`the server answered ${answer.statusCode} to a fetch of files`)
  return pack
}
