import { createHash, randomUUID } from 'node:crypto'
import { access, chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Fetch, send } from '../../../src/base/http.ts'
import type { Logger } from '../../../src/base/log.ts'
import { SettingsError } from '../../shared/settings.ts'
import { unzip } from '../zip.ts'

export interface PinnedRelease {
  version: string
  /** SHA-256 of the zip archive by `<os>_<architecture>`. */
  checksums: Record<string, string>
}

/** The release that `IAC_DOWNLOAD=true` fetches. With a new version come new checksums, from its SHA256SUMS. */
export const PINNED_OPENTOFU: PinnedRelease = {
  version: '1.10.6',
  checksums: {
    linux_amd64: '15b7bed76420b50da3e121769c43341df8cd57d751ca14e6dbe9c850124c6dac',
    linux_arm64: 'a32f653d686a8cad9b9be82101eb5b5e834fbfa8d095842fa1820c5d27fad967',
  },
}
const RELEASES = 'https://github.com/opentofu/opentofu/releases/download'
const MAX_ARCHIVE = 256 * 1024 * 1024
const MAX_BINARY = 512 * 1024 * 1024
const TIMEOUT_MS = 300_000

/**
 * Fetches the pinned engine into `folder`, unless it is there already, and answers its path. The archive must have the
 * checksum that is pinned here, and the release's own SHA256SUMS must name the same one. Errors: `SettingsError`.
 */
export async function downloadEngine(options: {
  folder: string
  /** Base URL of a mirror with the layout of the project's releases; empty for the project's own. */
  baseUrl: string
  /** `<os>_<architecture>`, for example `linux_amd64`. */
  target: string
  fetch: Fetch
  log: Logger
  release?: PinnedRelease
}): Promise<string> {
  const { version, checksums } = options.release ?? PINNED_OPENTOFU
  const expected = checksums[options.target]
  if (!expected)
    throw new SettingsError(
      `No OpenTofu release is pinned for ${options.target}; install an engine and set IAC_BINARY.`,
    )
  const binary = join(options.folder, `tofu-${version}`)
  if (await exists(binary)) return binary
  const base = `${options.baseUrl.replace(/\/+$/, '') || RELEASES}/v${version}`
  const name = `tofu_${version}_${options.target}.zip`
  const get = (file: string, maxBytes: number) => fetchFile(options.fetch, `${base}/${file}`, maxBytes)
  options.log.info('fetching the engine', { url: `${base}/${name}` })
  const sums = new TextDecoder().decode(await get(`tofu_${version}_SHA256SUMS`, 1024 * 1024))
  const listed = sums.split('\n').some((line) => line.trim().replace(/\s+\*?/, ' ') === `${expected} ${name}`)
  if (!listed)
    throw new SettingsError(`The release's SHA256SUMS does not list ${name} with the pinned checksum ${expected}.`)
  const archive = await get(name, MAX_ARCHIVE)
  const actual = createHash('sha256').update(archive).digest('hex')
  if (actual !== expected) throw new SettingsError(`${name} has checksum ${actual} instead of ${expected}.`)
  const program = unzip(Buffer.from(archive), (file) => file === 'tofu', MAX_BINARY)?.get('tofu')
  if (!program) throw new SettingsError(`${name} holds no tofu binary.`)
  await mkdir(options.folder, { recursive: true, mode: 0o700 })
  const temporary = `${binary}.${randomUUID()}.tmp`
  await writeFile(temporary, program)
  await chmod(temporary, 0o755)
  await rename(temporary, binary)
  return binary
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

async function fetchFile(fetch: Fetch, url: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const response = await send(fetch, {
      url,
      timeoutMs: TIMEOUT_MS,
      retries: 2,
      redirect: 'follow',
      maxBytes: maxBytes,
    })
    if (response.status !== 200)
      throw new SettingsError(`The engine could not be fetched: ${url} answered ${response.status}.`)
    return response.body
  } catch (error) {
    if (error instanceof SettingsError) throw error
    throw new SettingsError(
      `The engine could not be fetched from ${url}: ${error instanceof Error ? error.message : 'unknown error'}.`,
    )
  }
}
