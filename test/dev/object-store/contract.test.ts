import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startObjectStore } from '../../../dev/object-store.ts'
import { describeStore } from './contract/store.ts'

const KEYS = { access_key: 'access-key', secret_key: 'secret-key-of-the-store', region: 'us-east-1' }
const ORIGIN = 'http://localhost:5173'

describeStore('the store of the development stack', async () => {
  const data_dir = await mkdtemp(join(tmpdir(), 'object-store-contract-'))
  const open = (port?: number) =>
    startObjectStore({ ...KEYS, data_dir, cors_origins: [ORIGIN], ...(port === undefined ? {} : { port }) })
  let running = await open()
  return {
    ...KEYS,
    url: running.url,
    origin: ORIGIN,
    restart: async () => {
      await running.close()
      running = await open(Number(new URL(running.url).port))
      return running.url
    },
    close: async () => {
      await running.close()
      await rm(data_dir, { recursive: true, force: true })
    },
  }
})
