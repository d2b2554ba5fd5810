import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { inject } from 'vitest'
import type { StorageConfig } from '../../../config/types.ts'
import type { Fetch } from '../../../src/base/http.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { createObjectStore, type StorageDeps } from '../../../src/data/storage/create.ts'
import { storageConfig } from '../../data/storage/config.ts'
import type { Emulator } from './start.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The emulator that `run.ts` started. */
    azurite: Emulator
  }
}

const { port, account, key } = inject('azurite')

/** The emulator's form: the account is the first segment of the path. Browsers use another host name. */
export const byPath = {
  endpoint_url: `http://127.0.0.1:${port}/${account}`,
  public_endpoint_url: `http://localhost:${port}/${account}`,
}

/** The form of the cloud: the account is the first label of the host. */
const host = `http://${account}.blob.localhost:${port}`
export const byHost = { endpoint_url: host, public_endpoint_url: `${host}/` }

/** Sends requests for all hosts to the loopback address, because few resolvers know names below `localhost`. */
export const loopbackFetch: Fetch = async (input, init) => {
  const { url, method, headers, body } = new Request(input, init)
  const bytes = body ? Buffer.from(await new Response(body).arrayBuffer()) : undefined
  const { host: name, pathname, search } = new URL(url)
  const options = {
    host: '127.0.0.1',
    port,
    path: `${pathname}${search}`,
    method,
    headers: { ...Object.fromEntries(headers), host: name },
  }
  const outgoing = request(options)
  outgoing.end(bytes)
  const [answer]: IncomingMessage[] = await once(outgoing, 'response')
  if (!answer) throw new Error('no answer')
  const content = Buffer.concat(await answer.toArray())
  const named = Object.entries(answer.headers).map(([key, value]): [string, string] => [key, String(value)])
  return new Response(content.length > 0 ? content : null, { status: answer.statusCode, headers: named })
}

export const storeOf = (overrides: Partial<StorageConfig> = {}, deps: Partial<StorageDeps> = {}) =>
  createObjectStore(
    storageConfig({ provider: 'STORAGE_ACCOUNT', account_name: account, account_key: key, ...byPath, ...overrides }),
    { fetch, log: silentLogger, backoffMs: 1, ...deps },
  )
