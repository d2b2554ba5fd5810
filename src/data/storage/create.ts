import type { StorageConfig } from '../../../config/types.ts'
import { defaultCredentials } from '../../aws/chain.ts'
import { CredentialError, type CredentialSource, staticCredentials } from '../../aws/credentials.ts'
import { internal, unavailable } from '../../base/errors.ts'
import type { Fetch } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import { createS3Address } from './addresses.ts'
import { createBlobStore } from './blob.ts'
import { createStoreCall, createStoreClock, type ObjectStore } from './object-store.ts'
import { createS3Signer, createS3Store } from './s3.ts'

export interface StorageDeps {
  fetch: Fetch
  log: Logger
  /** The origins of browser clients that may read from a bucket created here (CORS). */
  cors_origins?: readonly string[]
  /** The credentials for S3 without configured keys; default: the AWS credential chain. */
  credentials?: CredentialSource
  /** Reads a file of that chain; null for a missing file. Throws when it cannot be read. */
  readFile?: (path: string) => Promise<string | null>
  now?: () => Date
  /** True for a process that may wait for `retry_seconds` until a store that is away comes back: no caller waits. */
  patient?: boolean
  /** Milliseconds before the second attempt, doubled for each further one. Default 200. */
  backoffMs?: number
}

/** Creates the object store of the configured provider, without a request before first use. */
export function createObjectStore(config: StorageConfig, deps: StorageDeps): ObjectStore {
  const now = deps.now ?? (() => new Date())
  const { fetch, log, backoffMs, patient } = deps
  const clock = createStoreClock(now, log)
  const call = createStoreCall(config, { fetch, clock, log, patient, firstWaitMs: backoffMs })
  if (config.provider === 'STORAGE_ACCOUNT') return createBlobStore({ config, call, log, clock, now })
  const credentials = credentialsOf(config, deps, now)
  const signer = createS3Signer({ credentials, region: config.region, now: clock.now })
  const tools = { config, call, signer, address: createS3Address(config), log, now }
  return createS3Store(tools, deps.cors_origins ?? [])
}

/**
 * Returns the configured key pair if both keys are set, otherwise the credential chain. Errors of the chain:
 * `PlatformError` 503 if a source was not reached, otherwise 500.
 */
export function credentialsOf(config: StorageConfig, deps: StorageDeps, now: () => Date): CredentialSource {
  const { access_key, secret_key } = config
  if ((access_key !== '' && secret_key !== '') || config.provider === 'BUNDLED')
    return staticCredentials({ access_key, secret_key })
  if (deps.credentials) return deps.credentials
  if (!config.aws) throw new Error('S3 without keys needs the variables of its credential chain')
  const chain = defaultCredentials({
    aws: config.aws,
    purpose: 'the object store',
    region: config.region,
    fetch: deps.fetch,
    log: deps.log,
    readFile: deps.readFile ?? (async () => null),
    now,
  })
  return (refused) =>
    chain(refused).catch((error: unknown) => {
      if (!(error instanceof CredentialError)) throw error
      const text = `No credentials for the object store: ${error.message}.`
      throw (error.transient ? unavailable : internal)(text, error.cause)
    })
}
