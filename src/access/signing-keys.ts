import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import * as v from 'valibot'
import { type Fetch, send } from '../base/http.ts'

const AGE_MS = 300_000
const COOLDOWN_MS = 10_000

export type KeySet = JWTVerifyGetKey & {
  /** Tells one reading of the keys from another; null when they have to be read. */
  current(): object | null
}
interface Held {
  find: JWTVerifyGetKey
  readAt: number
}

/**
 * The keys of an issuer, read on first use and kept for 300 s. A key id that is not among them reads
 * the set anew, at most once in 10 s whether that succeeds or not; callers that come together share
 * one reading, and a failed one is not kept.
 * @param now milliseconds
 */
export function createKeySet(read: () => Promise<JSONWebKeySet>, now: () => number): KeySet {
  let held: Held | null = null
  let reading: Promise<Held> | null = null
  let lastRefresh = Number.NEGATIVE_INFINITY

  const reload = () => {
    reading ??= read()
      .then((set) => {
        held = { find: createLocalJWKSet(set), readAt: now() }
        return held
      })
      .finally(() => {
        reading = null
      })
    return reading
  }
  // What is newer than the set that lacked the key; null when there is nothing newer yet.
  const newerThan = async (used: Held): Promise<Held | null> => {
    if (held !== used) return held
    if (reading) return reading
    if (within(COOLDOWN_MS, lastRefresh, now())) return null
    lastRefresh = now()
    return reload()
  }

  const find: JWTVerifyGetKey = async (header, token) => {
    if (!held || !within(AGE_MS, held.readAt, now())) return (await reload()).find(header, token)
    const used = held
    try {
      return await used.find(header, token)
    } catch (error) {
      const newer = error instanceof errors.JWKSNoMatchingKey ? await newerThan(used) : null
      if (!newer) throw error
      return newer.find(header, token)
    }
  }
  return Object.assign(find, { current: () => (held && within(AGE_MS, held.readAt, now()) ? held : null) })
}

/** False also when the clock was set back. */
const within = (spanMs: number, since: number, now: number): boolean => now >= since && now - since < spanMs

const Document = v.object({ jwks_uri: v.pipe(v.string(), v.url()) })
const publishedKeys = v.object({ keys: v.array(v.looseObject({ kty: v.optional(v.string()) })) })
const TIMEOUT_MS = 10_000
const MAX_BYTES = 1024 * 1024

/**
 * Reads the key set of an issuer. Its address is asked for on first use and kept for the process;
 * concurrent first calls share one request, a failure is not kept. Redirects are not followed, and an
 * issuer on https cannot send the core to an address without it.
 * Errors: plain ones, for the log only; each request takes 10 s at most.
 */
export function keySetReader(issuer: string, fetcher: Fetch): () => Promise<JSONWebKeySet> {
  let address: Promise<string> | null = null
  const discover = async () => {
    const found = v.parse(Document, await readJson(fetcher, `${issuer}/.well-known/openid-configuration`))
    const { protocol } = new URL(found.jwks_uri)
    if (protocol !== 'https:' && protocol !== new URL(issuer).protocol)
      throw new Error('jwks_uri is not an https:// address')
    return found.jwks_uri
  }
  return async () => {
    address ??= discover().catch((error) => {
      address = null
      throw error
    })
    return v.parse(publishedKeys, await readJson(fetcher, await address))
  }
}

async function readJson(fetcher: Fetch, url: string): Promise<unknown> {
  const headers = { accept: 'application/json' }
  const response = await send(fetcher, { url, headers, timeout_ms: TIMEOUT_MS, max_bytes: MAX_BYTES })
  if (response.status !== 200) throw new Error(`${new URL(url).pathname} was answered with ${response.status}`)
  return response.json()
}
