import { expect, test } from 'vitest'
import { configWarnings } from '../../config/check.ts'
import { load } from './support.ts'

const elsewhere =
  'storage.endpoint_url is no account host: the engine looks for managed state at the account of that name in the cloud'

test.each([
  ['http://127.0.0.1:10000/acme', 'state', true],
  ['http://127.0.0.1:10000/acme', '', false],
  ['https://acme.blob.core.windows.net', 'state', false],
])('a storage account at %s with state bucket %j', async (endpoint, bucket, warned) => {
  const file = `storage: {provider: STORAGE_ACCOUNT, endpoint_url: "${endpoint}", engine_state_bucket: "${bucket}"}`
  const warnings = configWarnings(await load(file, { STORAGE_ACCOUNT_KEY: 'a2V5' }))
  expect(warnings.includes(elsewhere)).toBe(warned)
})
