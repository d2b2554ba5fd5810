import type { StorageConfig } from '../../../config/types.ts'

/** The headers of an upload of plain text. */
export const TEXT = { content_type: 'text/plain' }

/** The error of a store that refuses. */
export const refused = (what: string, why: string, status = 500) => ({
  status,
  message: `The object store refused the ${what} (${why}).`,
})

export const ODD_KEYS = [
  'a b/c  d.txt',
  'größe/日本語/🚀.tf',
  '100%.txt',
  'a%2Fb%20c%41.txt',
  'a+b=c&d?e#f;g:h@i,j$k.txt',
  'double//slash.txt',
  '...dots../.hidden',
  `long/${'x'.repeat(200)}/${'y'.repeat(200)}`,
]

export const storageConfig = (overrides: Partial<StorageConfig> = {}): StorageConfig => ({
  provider: 'BUNDLED',
  bucket: 'platform-artifacts',
  engine_state_bucket: 'platform-terraform-state',
  engine_state_filename: 'terraform.tfstate',
  existing_state: 'ask',
  existing_state_timeout: 300,
  endpoint_url: 'http://127.0.0.1:9000',
  public_endpoint_url: 'http://localhost:9000',
  region: 'us-east-1',
  access_key: 'access-key',
  secret_key: 'secret-key',
  account_name: '',
  account_key: '',
  connect_timeout: 3,
  read_timeout: 10,
  max_attempts: 3,
  retry_seconds: 90,
  addressing: 'path',
  server_side_encryption: '',
  kms_key_id: '',
  presign_expiry_seconds: 172_800,
  state_credentials: 'static',
  state_role_arn: '',
  sts_endpoint_url: '',
  ...overrides,
})
