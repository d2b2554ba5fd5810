import { addRemote, fetch as fetchCommit, init } from 'isomorphic-git'
import type { Slices } from '../base/slices.ts'
import { createCheckedFetch } from './allowed-addresses.ts'
import { createGitHttp } from './git-http.ts'
import { credentials } from './head.ts'
import { createMemoryFs } from './memory-fs.ts'
import { type PackObjects, readPack } from './pack/read-pack.ts'
import { type GitContext, remoteUrl } from './remote.ts'

const MAX_PACK_BYTES = 48 * 1024 * 1024
/** Limit of all repository files: the pack, and little for configuration and references. */
const MAX_REPOSITORY_BYTES = MAX_PACK_BYTES + 1024 * 1024
const GITDIR = '/repository'
/** Location of the unread pack, outside the directory where the library looks for packs. */
const INCOMING_PACK = `${GITDIR}/incoming.pack`

/**
 * Fetches the newest commit of the default branch without history, and without file contents if the server supports it.
 * The library handles the protocol; the pack is read here, with limits and pauses for other requests.
 * @returns the hash of the commit, and the objects for `listFiles`
 * Errors: `Errors.HttpError` of the library; plain ones when the server refuses or its answer cannot be read.
 */
export async function fetchNewestCommit(
  context: GitContext,
  uri: string,
  options: { timeoutMs: number; signal: AbortSignal; slices: Slices },
): Promise<{ commit: string; objects: PackObjects }> {
  const url = remoteUrl(context.config.git, uri)
  const fetch = await createCheckedFetch(context, url, options.signal)
  const repository = { fs: createMemoryFs(MAX_REPOSITORY_BYTES), gitdir: GITDIR, cache: {} }
  await init({ ...repository, bare: true })
  await addRemote({ ...repository, remote: 'origin', url: url.href })
  const files = repository.fs.promises
  const takePack = (pack: Uint8Array) => files.writeFile(INCOMING_PACK, pack)
  const { fetchHead } = await fetchCommit({
    ...repository,
    http: createGitHttp(fetch, {
      ...options,
      maxBytes: MAX_PACK_BYTES,
      withPack: { take: takePack, slices: options.slices },
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
  return { commit: fetchHead, objects: await readPack(pack, options.slices) }
}
