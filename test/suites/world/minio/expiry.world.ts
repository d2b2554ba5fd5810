import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { cacheCredentials } from '../../../../src/aws/chain.ts'
import type { AwsCredentials } from '../../../../src/aws/credentials.ts'
import { assumeWithKeys } from '../../../../src/aws/sts.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { createObjectStore } from '../../../../src/data/storage/create.ts'
import { storageConfig } from '../../../data/storage/config.ts'
import { at } from './relay.ts'
import { REGION, ROOT, startMinio } from './server.ts'

/** The shortest life of credentials that MinIO and AWS give. */
const LIFE_S = 900
const LIMIT_MS = (LIFE_S + 300) * 1_000
const TEXT = { content_type: 'text/plain' }

// In the short form nothing waits for a quarter of an hour.
it.skipIf(process.env.WORLD_CI)(
  'keys of a token service that lapse before they say so are replaced, and nothing is lost',
  async () => {
    const minio = await startMinio()
    try {
      const deps = { fetch, region: REGION, now: () => new Date(), stsUrl: `${minio.url}/` }
      const role = {
        arn: 'arn:aws:iam::000000000000:role/platform',
        session_name: 'platform',
        duration_seconds: LIFE_S,
      }
      const given: AwsCredentials[] = []
      const lookUp = async () => {
        const keys = await assumeWithKeys(deps, role, ROOT)
        given.push(keys)
        // The platform renews keys before they expire, so it is told a later end.
        return { ...keys, expires: new Date(Date.now() + 4 * LIFE_S * 1_000) }
      }
      const credentials = cacheCredentials(lookUp, { now: deps.now, log: silentLogger, purpose: 'the object store' })
      const codes: string[] = []
      // The provider S3 alone has replaceable credentials: its requests are led to the server here.
      const lead: typeof fetch = async (input, init) => {
        const answer = await at(minio.url, String(input), init)
        if (answer.status !== 200)
          codes.push(`${init?.method} ${answer.status} ${/<Code>(\w+)<\/Code>/.exec(await answer.clone().text())?.[1]}`)
        return answer
      }
      const config = { provider: 'S3', region: REGION, access_key: '', secret_key: '', bucket: 'dotted.name' } as const
      const store = createObjectStore(storageConfig({ ...config, engine_state_bucket: '' }), {
        ...{ fetch: lead, log: silentLogger, credentials },
      })
      await store.ensureBuckets()
      await store.put('before', 'kept', TEXT)
      const link = await store.presign('before')
      expect([(await lead(link)).status, given.length]).toEqual([200, 1])
      await sleep(Number(given[0]?.expires) - Date.now() + 5_000)
      codes.length = 0
      await Promise.all([
        store.put('after', 'kept', TEXT),
        ...Array.from({ length: 5 }, async () => expect(await store.get('before')).toHaveLength(4)),
      ])
      // MinIO has no word of its own for keys that have lapsed.
      expect(new Set(codes)).toEqual(new Set(['PUT 403 InvalidAccessKeyId', 'GET 403 InvalidAccessKeyId']))
      expect(given).toHaveLength(2)
      expect((await lead(link)).status).toBe(403)
      expect((await lead(await store.presign('after'))).status).toBe(200)
    } finally {
      await minio.close()
    }
  },
  LIMIT_MS,
)
