import type { Config, StorageConfig } from '../../../config/types.ts'
import { CredentialError } from '../../aws/credentials.ts'
import { assumeWithKeys, domainOf } from '../../aws/sts.ts'
import { badGateway, PlatformError, unavailable } from '../../base/errors.ts'
import { withoutTrailingSlash } from './addresses.ts'
import { credentialsOf, type StorageDeps } from './create.ts'

/** Temporary keys of the state store, limited to the state of one project and its lock. */
export interface StateKeys {
  access_key: string
  secret_key: string
  session_token: string
  expires: Date
}

/** Issues temporary keys for the state of a project. */
export interface StateKeySource {
  /** Requests new keys for a whole engine job. Throws `PlatformError`: 503 when unreachable, 502 when refused. */
  issue(projectId: string): Promise<StateKeys>
}

/**
 * True if jobs get keys for the state of their own project only. A storage account cannot issue them: at `init` the
 * engine lists the whole container, which no signature for one blob allows.
 */
export const usesScopedKeys = (storage: StorageConfig): boolean =>
  storage.state_credentials === 'scoped' &&
  storage.engine_state_bucket.trim() !== '' &&
  storage.provider !== 'STORAGE_ACCOUNT'

/** Lifetimes that a token service accepts, in seconds. */
const LIFETIME_S = { min: 900, max: 43_200 }
/** An engine reads its keys at its start. They are renewed when they would expire within the next job. */
const MARGIN_S = 300

/** The role for stores without roles. The token service requires the field but ignores its value. */
const NO_ROLE = 'arn:aws:iam::000000000000:role/platform-state'

/** Makes the source of temporary keys; null when jobs get the configured keys. */
export function createStateKeys(
  config: Pick<Config, 'storage' | 'services'>,
  deps: StorageDeps,
): StateKeySource | null {
  const { storage, services } = config
  if (!usesScopedKeys(storage)) return null
  const now = deps.now ?? (() => new Date())
  const owner = credentialsOf(storage, deps, now)
  const seconds = Math.ceil(services.iac.job_timeout) + MARGIN_S
  const lifetime = Math.min(Math.max(seconds, LIFETIME_S.min), LIFETIME_S.max)
  const sts = { fetch: deps.fetch, region: storage.region, now, ...tokenService(storage) }
  return {
    issue: async (projectId) => {
      const role = {
        arn: storage.state_role_arn || NO_ROLE,
        session_name: `platform-${projectId.slice(0, 40)}`,
        policy: JSON.stringify(statePolicy(storage, projectId)),
        duration_seconds: lifetime,
      }
      try {
        const { session_token = '', expires = now(), ...keys } = await assumeWithKeys(sts, role, await owner())
        return { ...keys, session_token, expires }
      } catch (error) {
        if (!(error instanceof CredentialError)) throw error
        const text = `No keys for the state store: ${error.message}.`
        throw (error.transient ? unavailable : badGateway)(text, error)
      }
    },
  }
}

function tokenService({ provider, sts_endpoint_url, endpoint_url }: StorageConfig): { stsUrl?: string } {
  const url = sts_endpoint_url || (provider === 'BUNDLED' ? endpoint_url : '')
  return url === '' ? {} : { stsUrl: `${withoutTrailingSlash(url)}/` }
}

/**
 * Returns the session policy: the state object, its lock, and a listing of the project's folder. Without the listing a
 * store answers 403 instead of 404 for a state that does not exist yet.
 */
function statePolicy(storage: StorageConfig, projectId: string): object {
  const partition = /^arn:([\w-]+):/.exec(storage.state_role_arn)?.[1] ?? 'aws'
  const bucket = `arn:${partition}:s3:::${storage.engine_state_bucket.trim()}`
  const state = `${bucket}/${projectId}/${storage.engine_state_filename}`
  const allow = (Action: string[], Resource: string, Condition?: object) => ({
    Effect: 'Allow',
    Action,
    Resource: [Resource],
    ...(Condition ? { Condition } : {}),
  })
  // Encryption with a key of the account, by the store only. The role decides which key.
  const encryption = { StringEquals: { 'kms:ViaService': `s3.${storage.region}.${domainOf(storage.region)}` } }
  return {
    Version: '2012-10-17',
    Statement: [
      allow(['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'], state),
      allow(['s3:GetObject', 's3:PutObject', 's3:DeleteObject'], `${state}.tflock`),
      allow(['s3:ListBucket'], bucket, { StringLike: { 's3:prefix': [`${projectId}/*`] } }),
      ...(storage.provider === 'S3' ? [allow(['kms:Decrypt', 'kms:GenerateDataKey'], '*', encryption)] : []),
    ],
  }
}

/** Returns a warning about the keys of jobs, or null. For temporary keys this calls the token service once. */
export async function checkStateKeys(
  storage: StorageConfig,
  source: StateKeySource | undefined,
): Promise<string | null> {
  if (storage.engine_state_bucket.trim() === '') return null
  if (storage.state_credentials === 'static') return `storage.state_credentials is static: ${REACHES_ALL}`
  if (source === undefined)
    return `storage.state_credentials scoped is not possible with provider ${storage.provider}: ${REACHES_ALL}`
  return await source.issue('start').then(
    () => null,
    (error: unknown) => {
      const reason = error instanceof PlatformError ? error.message : 'No keys for the state store.'
      return `storage.state_credentials is scoped, and every round will fail until this is mended: ${reason}`
    },
  )
}

const REACHES_ALL = 'the code of every repository can reach the state of all projects at plan time'
