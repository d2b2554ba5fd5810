import type { StorageConfig } from '../../../config/types.ts'
import { sha256Hex } from '../../base/bytes.ts'
import { PlatformError } from '../../base/errors.ts'
import type { ObjectStore } from '../../data/storage/object-store.ts'
import { type StateKeySource, type StateKeys, usesScopedKeys } from '../../data/storage/state-keys.ts'
import { type EngineState, NO_STATE, parseState } from './state.ts'

/**
 * Returns the state name of an engine root: the SHA-256 (64 lower-case hex characters) of repository, scope and path,
 * so that sessions with the same three share a state.
 * @param repository https URL as stored with the session
 * @param iacPath path of the engine root; null, empty and `.` mean the repository root
 */
export async function deriveProjectId(repository: string, scopeId: string, iacPath: string | null): Promise<string> {
  const text = [canonicalRepository(repository), scopeId.trim().toLowerCase(), canonicalPath(iacPath ?? '')].join('\n')
  return sha256Hex(text)
}

/** Returns lower-case `host/path` without scheme, user, port, surrounding slashes and a final `.git`. */
export function canonicalRepository(repository: string): string {
  const url = new URL(repository.trim())
  const path = trimSlashes(trimSlashes(url.pathname).replace(/\.git$/i, ''))
  return `${url.hostname.toLowerCase()}/${path.toLowerCase()}`
}

function canonicalPath(path: string): string {
  const segments = path.trim().split('/')
  return segments.filter((segment) => segment !== '' && segment !== '.').join('/')
}

const trimSlashes = (text: string): string => text.replace(/^\/+|\/+$/g, '')

export type { StateKeySource, StateKeys }

/**
 * The file with temporary state store keys. The engine reads it at the start of each command, so keys are renewed
 * without an init, and a plan file, which contains the backend block, holds no expired keys.
 */
export const STATE_KEYS_FILE = '.platform-state-credentials'
/** Profile in that file; a named profile takes precedence over keys in the engine's environment. */
const STATE_KEYS_PROFILE = 'platform-state'

/** Renders `STATE_KEYS_FILE` in the format of AWS's shared credentials file. */
export const stateKeysFile = ({ access_key, secret_key, session_token }: StateKeys): string =>
  [
    `[${STATE_KEYS_PROFILE}]`,
    `aws_access_key_id = ${access_key}`,
    `aws_secret_access_key = ${secret_key}`,
    `aws_session_token = ${session_token}`,
    '',
  ].join('\n')

/**
 * Renders the file with the backend block for a project's managed state; null without a configured state bucket. Its
 * content may hold credentials of the state store and must not be logged; bucket and key may be. `cloud` is the one whose
 * credentials the engine needs for it; null when the content names keys.
 */
export function overrideFile(storage: StorageConfig, projectId: string) {
  const bucket = storage.engine_state_bucket.trim()
  if (!bucket) return null
  const key = `${projectId}/${storage.engine_state_filename}`
  const isBlob = storage.provider === 'STORAGE_ACCOUNT'
  const content = isBlob ? azurerm(storage, bucket, key) : s3(storage, projectId, bucket, key)
  const hasKeys = isBlob
    ? storage.account_key !== ''
    : usesScopedKeys(storage) || (storage.access_key !== '' && storage.secret_key !== '')
  return { content, bucket, key, cloud: hasKeys ? null : isBlob ? ('azure' as const) : ('aws' as const) }
}

function s3(storage: StorageConfig, projectId: string, bucket: string, key: string): string {
  const lines = [
    ['bucket', quote(bucket)],
    ['key', quote(key)],
    ['region', quote(storage.region)],
  ]
  if (usesScopedKeys(storage)) lines.push(...scopedKeys(projectId))
  else if (storage.access_key && storage.secret_key)
    lines.push(['access_key', quote(storage.access_key)], ['secret_key', quote(storage.secret_key)])
  if (storage.provider === 'BUNDLED') {
    lines.push(['endpoints', `{ s3 = ${quote(storage.endpoint_url)} }`])
    if (storage.addressing === 'path') lines.push(['use_path_style', 'true'])
    for (const flag of COMPATIBLE_STORE_FLAGS) lines.push([flag, 'true'])
  }
  // With `encrypt` alone the engine asks for AES256, which would take the place of a key that the bucket has.
  if (storage.server_side_encryption === 'AES256' || storage.kms_key_id !== '') lines.push(['encrypt', 'true'])
  if (storage.kms_key_id !== '') lines.push(['kms_key_id', quote(storage.kms_key_id)])
  const attempts = USUAL_ATTEMPTS + Math.ceil(storage.retry_seconds / MEAN_WAIT_S)
  lines.push(['max_retries', String(attempts)], ['use_lockfile', 'true'])
  return render('s3', lines)
}

/**
 * How often the engine asks a store that is away or busy before it gives up, where nothing is said: within 10 to 25
 * seconds. Between further attempts it waits for a random time up to 20 seconds.
 */
const USUAL_ATTEMPTS = 5
const MEAN_WAIT_S = 10

/** Returns the settings of keys and workspaces; all projects share the engine's default workspace prefix. */
const scopedKeys = (projectId: string): [string, string][] => [
  ['shared_credentials_files', `[${quote(STATE_KEYS_FILE)}]`],
  ['profile', quote(STATE_KEYS_PROFILE)],
  ['workspace_key_prefix', quote(`${projectId}/env:`)],
]

/** Settings for S3-compatible stores other than AWS. */
const COMPATIBLE_STORE_FLAGS = [
  'skip_credentials_validation',
  'skip_region_validation',
  'skip_requesting_account_id',
  'skip_metadata_api_check',
  'skip_s3_checksum',
]

/** National clouds need the environment, from which the backend derives the store's address. */
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

/** Quotes a text for the engine's language, escaping quotes, interpolations and line ends. */
export function quote(text: string): string {
  const escaped = text
    .replace(/[\\"]/g, '\\$&')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t')
    .replace(/[$%](?=\{)/g, '$&$&')
  return `"${escaped}"`
}

interface StateStore {
  config: { storage: StorageConfig }
  stateStore?: Pick<ObjectStore, 'get'>
}

/** Reads the managed state; `NO_STATE` before the first apply, null if unmanaged or unreadable. Throws store errors. */
export async function readManagedState(
  { config, stateStore }: StateStore,
  projectId: string,
  signal?: AbortSignal,
): Promise<EngineState | null> {
  if (!stateStore) return null
  const bytes = await getIfThere(stateStore, `${projectId}/${config.storage.engine_state_filename}`, signal)
  return bytes === null ? NO_STATE : parseState(new TextDecoder().decode(bytes))
}

/** Reports whether the S3 lock file exists; null for unmanaged states and blob leases. Throws store errors. */
export async function isStateLocked(
  { config, stateStore }: StateStore,
  projectId: string,
  signal?: AbortSignal,
): Promise<boolean | null> {
  if (!stateStore || config.storage.provider === 'STORAGE_ACCOUNT') return null
  return (await getIfThere(stateStore, `${projectId}/${config.storage.engine_state_filename}.tflock`, signal)) !== null
}

/** Deletes a managed state. Throws store errors. */
export async function deleteManagedState(
  { config, stateStore }: { config: StateStore['config']; stateStore?: Partial<Pick<ObjectStore, 'delete'>> },
  projectId: string,
): Promise<void> {
  await stateStore?.delete?.(`${projectId}/${config.storage.engine_state_filename}`)
}

/** Returns a context as of a platform that manages no state, for a repository that keeps its own backend. */
export const withoutManagedState = <Context extends { config: { storage: StorageConfig } }>(context: Context) => ({
  ...context,
  config: { ...context.config, storage: { ...context.config.storage, engine_state_bucket: '' } },
  stateStore: undefined,
  stateKeys: undefined,
})

async function getIfThere(store: Pick<ObjectStore, 'get'>, key: string, signal?: AbortSignal) {
  try {
    return await store.get(key, { signal })
  } catch (error) {
    if (error instanceof PlatformError && error.status === 404) return null
    throw error
  }
}
