import { afterAll, beforeAll, describe, expect } from 'vitest'
import { describeBuckets } from './buckets.ts'
import { BUCKET, createClient, type StoreUnderTest } from './client.ts'
import { describeKeys } from './keys.ts'
import { describeLists } from './lists.ts'
import { describeMultipart } from './multipart.ts'
import { describeObjects } from './objects.ts'
import { describePages } from './pages.ts'
import { describeSignatures } from './signatures.ts'
import { describeTemporaryKeys } from './temporary-keys.ts'

/**
 * Tests the features of an S3 store that the platform, its engines and browsers rely on. They run against the
 * development store of the project and, in `npm run world`, against MinIO.
 */
export function describeStore(title: string, start: () => Promise<StoreUnderTest>): void {
  let store: StoreUnderTest
  const client = createClient(() => store)
  describe(title, () => {
    beforeAll(async () => {
      store = await start()
      expect((await client.call('PUT', BUCKET)).status).toBe(200)
    })
    afterAll(() => store?.close())

    describeBuckets(client)
    describeObjects(client)
    describeKeys(client)
    describeLists(client)
    describeMultipart(client)
    describeSignatures(client)
    describePages(client)
    describeTemporaryKeys(client)
  })
}
