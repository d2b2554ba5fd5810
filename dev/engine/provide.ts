import { readFile } from 'node:fs/promises'
import { setGlobalProxyFromEnv } from 'node:http'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { findInstalledEngine } from '../../sidecars/iac/engine/find.ts'
import type { Fetch } from '../../src/base/http.ts'
import { type Download, downloadEngine, keptEngine } from './download.ts'
import { OPENTOFU, RELEASES, targetOf } from './release.ts'

/** No engine can be provided. The text is one sentence that says what to do. */
export class NoEngine extends Error {
  override name = 'NoEngine'
}

interface EngineRequest {
  env: Readonly<Record<string, string | undefined>>
  output: Pick<NodeJS.WriteStream, 'write'> & { isTTY?: boolean }
  signal?: AbortSignal
  platform?: NodeJS.Platform
  architecture?: NodeJS.Architecture
  fetch?: Fetch
  /** OpenPGP key in its text form, instead of the project's own. */
  publicKey?: string
  stallMs?: number
}

const STALL_MS = 30_000
const INSTALL = 'install OpenTofu (tofu) or Terraform (terraform) on PATH, or name one in IAC_BINARY'

/**
 * Provides the folder of an engine for PATH: a downloaded one, or else the pinned release, which is downloaded now.
 * Null if an engine is on PATH already.
 * @throws NoEngine if none can be provided, or `IAC_DOWNLOAD=false` forbids the download
 */
export async function provideEngine(wanted: EngineRequest): Promise<string | null> {
  const { env, output, signal, platform = process.platform, architecture = process.arch } = wanted
  if (await findInstalledEngine(env.PATH ?? '', platform)) return null
  // Any other value gives no permission.
  const permission = env.IAC_DOWNLOAD?.trim().toLowerCase() || 'true'
  if (permission !== 'true')
    throw new NoEngine(`No engine is on PATH and IAC_DOWNLOAD=${permission} forbids to fetch one: ${INSTALL}.`)
  const target = targetOf(platform, architecture)
  if (!target)
    throw new NoEngine(`No engine is on PATH and none is published for ${platform} ${architecture}: ${INSTALL}.`)
  const download: Download = {
    release: {
      version: OPENTOFU,
      baseUrl: env.IAC_DOWNLOAD_URL?.trim() || RELEASES,
      publicKey: wanted.publicKey ?? (await readFile(join(import.meta.dirname, 'opentofu.asc'), 'utf8')),
    },
    target,
    cache: cacheFolder(env, platform),
    fetch: wanted.fetch ?? globalThis.fetch,
    stallMs: wanted.stallMs ?? STALL_MS,
    signal,
  }
  return (await keptEngine(download)) ?? (await fetchEngine(download, env, output))
}

async function fetchEngine(download: Download, env: EngineRequest['env'], output: EngineRequest['output']) {
  const { version, baseUrl } = download.release
  const line = createProgressLine(output, `No engine is on PATH: fetching OpenTofu ${version} from ${hostOf(baseUrl)}`)
  const withoutProxy = useProxy(env)
  try {
    return await downloadEngine({ ...download, progress: line.update })
  } catch (error) {
    download.signal?.throwIfAborted()
    const reason = error instanceof Error ? error.message : String(error)
    throw new NoEngine(`No engine is on PATH and OpenTofu ${version} could not be fetched (${reason}): ${INSTALL}.`)
  } finally {
    withoutProxy()
    line.end()
  }
}

/**
 * Puts an engine on the PATH of this process and its children, unless there is one.
 * @throws NoEngine
 */
export async function addEngineToPath(signal?: AbortSignal): Promise<void> {
  const folder = await provideEngine({ env: process.env, output: process.stderr, signal })
  if (folder !== null) process.env.PATH = [folder, process.env.PATH].filter(Boolean).join(delimiter)
}

/** Does the same for the stack, whose engine `IAC_BINARY` may name. */
export async function addEngineForStack(signal?: AbortSignal): Promise<void> {
  if (!process.env.IAC_BINARY?.trim()) await addEngineToPath(signal)
}

/** Returns the folder in which the user's programs cache files. */
function cacheFolder(env: EngineRequest['env'], platform: NodeJS.Platform): string {
  const home = env.HOME || env.USERPROFILE || homedir()
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'platform-engine')
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'platform-engine')
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'platform-engine')
  return join(home, '.cache', 'platform-engine')
}

/** Uses the proxy for this download only: all other calls of this process stay on this machine. */
function useProxy(env: EngineRequest['env']): () => void {
  const { http_proxy, https_proxy, no_proxy, HTTP_PROXY, HTTPS_PROXY, NO_PROXY } = env
  if (!(http_proxy || https_proxy || HTTP_PROXY || HTTPS_PROXY)) return () => {}
  return setGlobalProxyFromEnv({ http_proxy, https_proxy, no_proxy, HTTP_PROXY, HTTPS_PROXY, NO_PROXY })
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? url

const WIDTH = 30
const AGAIN_MS = 100
const MEBIBYTE = 1024 * 1024

/** Makes a line that shows the progress of a download; outside of a terminal a plain line at its beginning. */
function createProgressLine(output: EngineRequest['output'], text: string) {
  const live = output.isTTY === true
  if (!live) output.write(`${text}\n`)
  let drawn = Number.NEGATIVE_INFINITY
  let last = ''
  const draw = (line: string) => {
    last = line
    drawn = performance.now()
    output.write(`\r\u001b[2K${line}`)
  }
  if (live) draw(text)
  return {
    update: (done: number, total: number | null) => {
      if (live && (done === total || performance.now() - drawn > AGAIN_MS)) draw(`${text}  ${barOf(done, total)}`)
    },
    end: () => {
      if (live && last !== '') output.write('\n')
    },
  }
}

const inMebibytes = (bytes: number): string => (bytes / MEBIBYTE).toFixed(1)

/** Renders a bar, for example `[######----]  20.1 of 33.0 MiB`. */
function barOf(done: number, total: number | null): string {
  if (total === null) return `${inMebibytes(done)} MiB`
  const filled = Math.min(WIDTH, Math.floor((WIDTH * done) / total))
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}]  ${inMebibytes(done)} of ${inMebibytes(total)} MiB`
}
