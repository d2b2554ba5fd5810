import * as v from 'valibot'
import { baseUrl, choice, decimal, fileName, integer, nonEmpty, text } from '../fields.ts'
import { withoutUserinfo } from '../mask-url.ts'
import type { Source } from '../source.ts'
import { readAws } from './aws.ts'

export type StorageConfig = ReturnType<typeof readStorage>
export type StorageProvider = (typeof PROVIDERS)[number]
export type StateCredentials = (typeof STATE_CREDENTIALS)[number]

const PROVIDERS = ['BUNDLED', 'S3', 'STORAGE_ACCOUNT'] as const
const STATE_CREDENTIALS = ['static', 'scoped'] as const
const ADDRESSING = ['path', 'virtual'] as const
type Addressing = (typeof ADDRESSING)[number]
type Encryption = '' | 'AES256' | 'aws:kms'
const EXISTING = ['ask', 'adopt', 'keep', 'new'] as const
type ExistingState = (typeof EXISTING)[number]
const spellings = Object.fromEntries(
  PROVIDERS.flatMap((name) => [[name, name] as const, [name.toLowerCase(), name] as const]),
)

export const storageSchema = v.object({
  provider: choice<StorageProvider>('BUNDLED', spellings, PROVIDERS),
  bucket: text('platform-artifacts', nonEmpty),
  /** The bucket of engine state; if empty, repositories declare their own backend. */
  engine_state_bucket: text('platform-terraform-state'),
  engine_state_filename: fileName('terraform.tfstate'),
  /** For a repository with a backend of its own whose managed state is empty, where the request does not choose. */
  existing_state: choice<ExistingState>('ask', { ask: 'ask', adopt: 'adopt', keep: 'keep', new: 'new' }, EXISTING),
  /** Seconds to open the backend of such a repository before the first plan. */
  existing_state_timeout: integer(300, { min: 1 }),
  endpoint_url: baseUrl('http://object-storage:9000'),
  public_endpoint_url: baseUrl('http://localhost:9000'),
  region: text('us-east-1'),
  /** Where a request to `endpoint_url` names the bucket: in the path or in front of the host. */
  addressing: choice<Addressing>('path', { path: 'path', virtual: 'virtual' }, ADDRESSING),
  /** The encryption that uploads and the engine ask for, where the policy of a bucket demands it. */
  server_side_encryption: choice<Encryption>('', { '': '', AES256: 'AES256', 'aws:kms': 'aws:kms' }, [
    'AES256',
    'aws:kms',
  ]),
  kms_key_id: text(''),
  access_key_env: text('BUNDLED_ACCESS_KEY'),
  secret_key_env: text('BUNDLED_SECRET_KEY'),
  account_key_env: text('STORAGE_ACCOUNT_KEY'),
  connect_timeout: decimal(3, { above: 0 }),
  read_timeout: decimal(10, { above: 0 }),
  max_attempts: integer(3, { min: 1 }),
  /** Seconds for which a worker repeats uploads and reads while the store is away or busy. */
  retry_seconds: integer(90, { min: 0 }),
  presign_expiry_seconds: integer(172800),
  /** The credentials of a job: the keys of the store, or temporary ones for the state of its own project only. */
  state_credentials: choice<StateCredentials>('static', { static: 'static', scoped: 'scoped' }, STATE_CREDENTIALS),
  /** ARN of the role for which temporary keys are issued; not needed by a store without roles. */
  state_role_arn: text(''),
  /** URL of the token service; if empty, that of the region or of the store. */
  sts_endpoint_url: baseUrl(''),
})

/** Spellings of older configuration files. */
const storageAliases = {
  terraform_state_bucket: 'engine_state_bucket',
  terraform_state_filename: 'engine_state_filename',
}

type Values = v.InferOutput<typeof storageSchema>

export function readStorage(source: Source) {
  const { values, failed } = source.section('storage', storageSchema, storageAliases)
  checkPresignExpiry(source, values.presign_expiry_seconds)
  const { access_key_env, secret_key_env, account_key_env, ...rest } = values
  const isAccount = !failed.has('provider') && !failed.has('endpoint_url') && values.provider === 'STORAGE_ACCOUNT'
  const accessKey = readBundledKey(source, values.provider, access_key_env)
  const secretKey = readBundledKey(source, values.provider, secret_key_env)
  if (values.kms_key_id !== '' && values.server_side_encryption !== 'aws:kms')
    source.problem('storage.kms_key_id requires storage.server_side_encryption aws:kms.')
  if (values.kms_key_id !== '' && values.engine_state_bucket !== '' && !ENGINE_KEY.test(values.kms_key_id))
    source.problem(
      'storage.kms_key_id must be the UUID, an alias (alias/<name>) or the ARN of a key while storage.engine_state_bucket ' +
        `is set, because the engine takes no other; got '${values.kms_key_id}'.`,
    )
  if (values.state_credentials === 'scoped') checkScopedKeys(source, values, accessKey !== '' && secretKey !== '')
  const chained = values.provider === 'S3' && (accessKey === '' || secretKey === '')
  return {
    ...rest,
    access_key: accessKey,
    secret_key: secretKey,
    ...(chained ? { aws: readAws(source) } : {}),
    ...(isAccount ? readAccount(source, values) : { account_name: '', account_key: '' }),
  }
}

function checkPresignExpiry(source: Source, seconds: number): void {
  if (seconds >= 108_000 && seconds <= 604_800) return
  source.problem(
    'storage.presign_expiry_seconds must be between 108000 (30h, to outlive the cached session detail aggregate) ' +
      `and 604800 (the SigV4 7-day limit); got ${seconds}.`,
  )
}

/** Reports settings with which temporary keys cannot be issued. They require permanent keys, and on AWS a role. */
function checkScopedKeys(source: Source, { provider, state_role_arn }: Values, hasKeys: boolean): void {
  if (provider === 'BUNDLED' && !hasKeys)
    source.problem('storage.state_credentials scoped with provider BUNDLED requires both keys of the store.')
  if (provider === 'S3' && !ROLE_ARN.test(state_role_arn))
    source.problem(
      'storage.state_credentials scoped with provider S3 requires storage.state_role_arn, the ARN of a role ' +
        `(arn:aws:iam::<account>:role/<name>) that may read and write the state bucket; got '${state_role_arn}'.`,
    )
}

/** What the `s3` backend of the engine accepts: UUIDs of the versions 1 to 5, and keys of several regions. */
const ENGINE_KEY =
  /^(?:(?:arn:[\w-]+:kms:[\w-]+:\d{12}:key\/)?(?:[a-f0-9]{8}-[a-f0-9]{4}-[1-5][a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}|mrk-[a-f0-9]{32})|(?:arn:[\w-]+:kms:[\w-]+:\d{12}:)?alias\/[\w/-]+)$/

const ROLE_ARN = /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/

const OLDER_NAMES: Record<string, string> = {
  BUNDLED_ACCESS_KEY: 'RUSTFS_ACCESS_KEY',
  BUNDLED_SECRET_KEY: 'RUSTFS_SECRET_KEY',
}
/** The value of both default keys of the bundled store. */
const BUNDLED_KEY = 'bundledadmin'

/**
 * Reads one of the two keys of an S3 store from its variable or the older name of it. A variable that is set but empty
 * means "no key"; the bundled store takes its default only if neither is set.
 */
function readBundledKey(source: Source, provider: StorageProvider, name: string): string {
  const names = [name, OLDER_NAMES[name]].filter((candidate) => candidate !== undefined)
  const set = names.map(source.variable).find((value) => value !== '')
  if (set !== undefined) return set
  return provider === 'BUNDLED' && !names.some(source.exists) ? BUNDLED_KEY : ''
}

function readAccount(source: Source, values: Values): { account_name: string; account_key: string } {
  const account_name = accountName(values.endpoint_url)
  const accountKey = source.variable(values.account_key_env)
  if (account_name === '')
    source.problem(
      'storage.endpoint_url must be an account blob endpoint (https://<account>.blob.core.windows.net) when ' +
        'storage.provider is STORAGE_ACCOUNT; cannot derive an account name from ' +
        `'${withoutUserinfo(values.endpoint_url)}'.`,
    )
  if (accountKey === '') source.problem(`storage.provider STORAGE_ACCOUNT requires env var ${values.account_key_env}.`)
  return { account_name, account_key: accountKey }
}

/** Returns the account in `https://<account>.blob.…` or `http://host:port/<account>` (emulator); otherwise empty. */
function accountName(endpoint: string): string {
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) return ''
  const url = new URL(endpoint)
  const [account, service] = url.hostname.split('.')
  if (service === 'blob') return account ?? ''
  const segments = url.pathname.split('/').filter((segment) => segment !== '')
  return segments.length === 1 ? (segments[0] ?? '') : ''
}
