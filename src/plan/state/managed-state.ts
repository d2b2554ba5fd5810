import type { StorageConfig } from '../../../config/types.ts'
import { sha256Hex } from '../../base/bytes.ts'
import { PlatformError } from '../../base/errors.ts'
import type { ObjectStore } from '../../data/storage/types.ts'
import { type EngineState, NO_STATE, parseState } from './state.ts'

/**
 * Names the state of one engine root: SHA-256 (lower-case hex, 64 characters) of repository, scope and
 * path, so that every session on the same three shares one state.
 * @param repository https URL as stored with the session
 * @param iacPath relative to the repository root; null, empty and `.` name the root itself
 */
export async function projectId(repository: string, scopeId: string, iacPath: string | null): Promise<string> {
  const text = [canonicalRepository(repository), scopeId.trim().toLowerCase(), canonicalPath(iacPath ?? '')].join('\n')
  return sha256Hex(text)
}

/** `host/path` in lower case, without scheme, user, port, surrounding slashes and one `.git` ending. */
function canonicalRepository(repository: string): string {
  const url = new URL(repository.trim())
  const path = trimSlashes(trimSlashes(url.pathname).replace(/\.git$/i, ''))
  return `${url.hostname.toLowerCase()}/${path.toLowerCase()}`
}

function canonicalPath(path: string): string {
  const segments = path.trim().split('/')
  return segments.filter((segment) => segment !== '' && segment !== '.').join('/')
}

const trimSlashes = (text: string): string => text.replace(/^\/+|\/+$/g, '')

/** The backend block of the engine and what may be logged about it. */
export interface OverrideFile {
  /** Holds credentials of the state store. */
  content: string
  bucket: string
  key: string
}

/**
 * Renders the file that points the engine at the managed state of a project; null when the state
 * bucket is blank and repositories declare their own backend.
 */
export function overrideFile(storage: StorageConfig, project_id: string): OverrideFile | null {
  const bucket = storage.engine_state_bucket.trim()
  if (!bucket) return null
  const key = `${project_id}/${storage.engine_state_filename}`
  const block = storage.provider === 'STORAGE_ACCOUNT' ? azurerm(storage, bucket, key) : s3(storage, bucket, key)
  return { content: block, bucket, key }
}

function s3(storage: StorageConfig, bucket: string, key: string): string {
  const lines = [
    ['bucket', quote(bucket)],
    ['key', quote(key)],
    ['region', quote(storage.region)],
  ]
  if (storage.access_key && storage.secret_key)
    lines.push(['access_key', quote(storage.access_key)], ['secret_key', quote(storage.secret_key)])
  if (storage.provider === 'BUNDLED') {
    lines.push(['endpoints', `{ s3 = ${quote(storage.endpoint_url)} }`])
    for (const flag of COMPATIBLE_STORE_FLAGS) lines.push([flag, 'true'])
  }
  lines.push(['use_lockfile', 'true'])
  return render('s3', lines)
}

/** What a store that speaks S3 but is not AWS needs. */
const COMPATIBLE_STORE_FLAGS = [
  'use_path_style',
  'skip_credentials_validation',
  'skip_region_validation',
  'skip_requesting_account_id',
  'skip_metadata_api_check',
  'skip_s3_checksum',
]

/** The backend makes the address from the account's name; it must be told when that is in another cloud. */
const CLOUDS = [
  ['.core.usgovcloudapi.net', 'usgovernment'],
  ['.core.chinacloudapi.cn', 'china'],
] as const

function azurerm(storage: StorageConfig, container: string, key: string): string {
  const lines = [
    ['storage_account_name', quote(storage.account_name)],
    ['container_name', quote(container)],
    ['key', quote(key)],
    storage.account_key ? ['access_key', quote(storage.account_key)] : ['use_azuread_auth', 'true'],
  ]
  const cloud = CLOUDS.find(([suffix]) => new URL(storage.endpoint_url).hostname.endsWith(suffix))?.[1]
  if (cloud) lines.push(['environment', quote(cloud)])
  return render('azurerm', lines)
}

function render(type: string, lines: string[][]): string {
  const body = lines.map(([name, value]) => `    ${name} = ${value}\n`).join('')
  return `terraform {\n  backend "${type}" {\n${body}  }\n}\n`
}

/** A quoted template of the engine's language that stands for exactly `text`. */
export function quote(text: string): string {
  const escaped = text
    .replace(/[\\"]/g, '\\$&')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t')
    .replace(/[$%](?=\{)/g, '$&$&')
  return `"${escaped}"`
}

/**
 * The managed state of a project as it stands; without an object there is none yet. Null when the state is
 * not managed, or is no document that can be read.
 * Errors: those of the object store.
 */
export async function readManagedState(
  { config, state_store }: { config: { storage: StorageConfig }; state_store?: Pick<ObjectStore, 'get'> },
  project_id: string,
  signal?: AbortSignal,
): Promise<EngineState | null> {
  if (!state_store) return null
  try {
    const bytes = await state_store.get(`${project_id}/${config.storage.engine_state_filename}`, { signal })
    return parseState(new TextDecoder().decode(bytes))
  } catch (error) {
    if (error instanceof PlatformError && error.status === 404) return NO_STATE
    throw error
  }
}
