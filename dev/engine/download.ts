import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { unzip } from '../../sidecars/iac/engine/download.ts'
import { type Fetch, send, TRANSIENT_STATUSES } from '../../src/base/http.ts'
import { escapePattern } from '../../src/base/text.ts'
import type { Release, Target } from './release.ts'

const MAX_LIST = 1024 * 1024
const MAX_ARCHIVE = 256 * 1024 * 1024
const MAX_PROGRAM = 1024 * 1024 * 1024
const LEFT_BEHIND_MS = 24 * 3_600_000
const INCOMING = 'incoming-'

export interface Download extends Transfer {
  release: Release
  target: Target
  /** Folder that keeps engines between runs. */
  cache: string
  progress?: Progress
}

const folderOf = ({ cache, release, target }: Download): string =>
  join(cache, `opentofu-${release.version}-${target.name}`)

/** Finds the folder of a downloaded engine; null if there is none or its program is incomplete. */
export async function keptEngine(download: Download): Promise<string | null> {
  const folder = folderOf(download)
  const program = join(folder, download.target.program)
  const expected = await readFile(`${program}.sha256`, 'utf8').catch(() => null)
  if (expected === null) return null
  const bytes = await readFile(program).catch(() => null)
  return bytes !== null && sha256(bytes) === expected.trim() ? folder : null
}

/**
 * Downloads a release of the engine into the cache: its list of checksums, which must be signed with the project's key,
 * and the archive, which must match the list. The folder is created atomically, so a killed process leaves no broken
 * engine, and two processes do not collide.
 * @returns the folder of the program
 * @throws Error with a reason that completes "could not be fetched"
 */
export async function downloadEngine(download: Download): Promise<string> {
  const { target, cache } = download
  const archive = await fetchArchive(download)
  const program = unzip(archive, (name) => name === target.program, MAX_PROGRAM)?.get(target.program)
  if (!program) throw new Error(`the archive for ${target.name} holds no ${target.program}`)
  await mkdir(cache, { recursive: true })
  await removeLeftovers(cache)
  const incoming = join(cache, `${INCOMING}${randomUUID()}`)
  try {
    await mkdir(incoming)
    await writeFile(join(incoming, target.program), program, { mode: 0o755 })
    await writeFile(join(incoming, `${target.program}.sha256`), `${sha256(program)}\n`)
    return await putInPlace(incoming, download)
  } finally {
    await rm(incoming, { recursive: true, force: true })
  }
}

async function fetchArchive(download: Download): Promise<Buffer> {
  const { version, baseUrl, publicKey } = download.release
  const base = `${baseUrl.replace(/\/+$/, '')}/v${version}`
  const list = `tofu_${version}_SHA256SUMS`
  const sums = await fetchFile(`${base}/${list}`, MAX_LIST, download)
  const signature = await fetchFile(`${base}/${list}.gpgsig`, MAX_LIST, download)
  await verifySignature(sums, signature, publicKey).catch((error: unknown) => {
    throw new Error(`the signature of ${list} is not one of the project (${(error as Error).message})`)
  })
  const name = `tofu_${version}_${download.target.name}.zip`
  const entry = new RegExp(`^([0-9a-f]{64}) [ *]${escapePattern(name)}\\s*$`, 'm')
  const expected = entry.exec(new TextDecoder().decode(sums))?.[1]
  if (expected === undefined) throw new Error(`${list} does not list ${name}`)
  const archive = Buffer.from(await fetchFile(`${base}/${name}`, MAX_ARCHIVE, download, download.progress))
  const actual = sha256(archive)
  if (actual !== expected) throw new Error(`${name} has the checksum ${actual} instead of ${expected}`)
  return archive
}

/** Moves the engine to its place. An engine that another process has put there meanwhile is kept. */
async function putInPlace(incoming: string, download: Download): Promise<string> {
  const folder = folderOf(download)
  for (let attempt = 1; ; attempt++) {
    try {
      await rename(incoming, folder)
      return folder
    } catch (error) {
      if (await keptEngine(download)) return folder
      if (attempt > 2) throw new Error(`${basename(folder)} could not be written (${(error as Error).message})`)
      await rm(folder, { recursive: true, force: true })
    }
  }
}

async function removeLeftovers(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    if (!name.startsWith(INCOMING)) continue
    const found = await stat(join(cache, name)).catch(() => null)
    if (found && Date.now() - found.mtimeMs > LEFT_BEHIND_MS)
      await rm(join(cache, name), { recursive: true, force: true })
  }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/**
 * Checks that a key has signed a document.
 * @param signature detached, in binary form
 * @param publicKey in its text form
 * @throws Error with the reason, also for a signature or a key that cannot be read
 */
export async function verifySignature(
  document: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  publicKey: string,
): Promise<void> {
  // Loaded here, because only a machine without an engine needs it.
  const openpgp = await import('openpgp')
  await openpgp.verify({
    message: await openpgp.createMessage({ binary: document }),
    signature: await openpgp.readSignature({ binarySignature: signature }),
    verificationKeys: await openpgp.readKey({ armoredKey: publicKey }),
    expectSigned: true,
  })
}

/** Receives the bytes of a file so far and in total; null where the server does not say the total. */
export type Progress = (done: number, total: number | null) => void

interface Transfer {
  fetch: Fetch
  /** Milliseconds without a byte after which an attempt is given up. */
  stallMs: number
  signal?: AbortSignal
}

const ATTEMPT_MS = 30 * 60_000
const RETRIES = 2

/**
 * Fetches a file. A broken or stalled transfer is tried again, twice.
 * @param maxBytes largest size that is accepted
 * @throws Error with a reason that completes "could not be fetched"
 */
async function fetchFile(url: string, maxBytes: number, { fetch, stallMs, signal }: Transfer, progress?: Progress) {
  const response = await send(watched(fetch, stallMs, progress), {
    url,
    timeoutMs: ATTEMPT_MS,
    retries: RETRIES,
    retryStatuses: TRANSIENT_STATUSES,
    redirect: 'follow',
    maxBytes,
    signal,
  }).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw new Error(`${new URL(url).host}: ${reasonOf(error)}`)
  })
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
  return response.body
}

/** Returns the deepest cause that has a text: `getaddrinfo ENOTFOUND github.com` and not `fetch failed`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (error instanceof Stalled || !(cause instanceof Error)) return error.message || error.name
  const deeper = reasonOf(cause)
  return deeper === '' ? error.message : deeper
}

class Stalled extends Error {
  override name = 'Stalled'
}

/** Wraps `fetch`: reports the progress of answers and aborts stalled ones. */
function watched(fetch: Fetch, stallMs: number, progress: Progress | undefined): Fetch {
  return async (input, init) => {
    const stall = new AbortController()
    const timer = setTimeout(() => stall.abort(new Stalled(`nothing came for ${stallMs / 1000} s`)), stallMs)
    try {
      const signal = AbortSignal.any([stall.signal, ...(init?.signal ? [init.signal] : [])])
      const response = await fetch(input, { ...init, signal })
      if (!response.body) return response
      const total = Number(response.headers.get('content-length')) || null
      let done = 0
      const counter = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          timer.refresh()
          done += chunk.byteLength
          progress?.(done, total)
          controller.enqueue(chunk)
        },
        flush: () => clearTimeout(timer),
      })
      return new Response(response.body.pipeThrough(counter), { status: response.status, headers: response.headers })
    } catch (error) {
      clearTimeout(timer)
      throw error
    }
  }
}
