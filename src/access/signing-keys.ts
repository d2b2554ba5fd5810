import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import * as v from 'valibot'
import type { Fetch } from '../base/http.ts'
import { readDiscovery, readIssuerJson } from './discovery.ts'

const MAX_AGE_MS = 300_000
const COOLDOWN_MS = 10_000

export type KeySet = JWTVerifyGetKey & {
  /**
   * An object that stands for the keys in use: it is another one after they were read again. Null when there are no
   * keys or when they are too old to be used.
   */
  current(): object | null
}
interface CachedKeys {
  find: JWTVerifyGetKey
  readAt: number
}

/**
 * The keys of an issuer. They are read on first use and kept for 300 s. A token with an unknown key id makes the set
 * be read again, because the issuer may have changed its keys; this happens at most once in 10 s, so that invalid
 * tokens cannot flood the issuer. Calls at the same time share one request, and a failed request is not kept.
 * @param now milliseconds
 */
export function createKeySet(read: () => Promise<JSONWebKeySet>, now: () => number): KeySet {
  let cached: CachedKeys | null = null
  let reading: Promise<CachedKeys> | null = null
  let lastRefresh = Number.NEGATIVE_INFINITY

  const reload = () => {
    reading ??= read()
      .then((set) => {
        cached = { find: createLocalJWKSet(set), readAt: now() }
        return cached
      })
      .finally(() => {
        reading = null
      })
    return reading
  }
  // Answers a newer set than the one in which the key was missing; null when it was read less than 10 s ago.
  const readNewerThan = async (used: CachedKeys): Promise<CachedKeys | null> => {
    if (cached !== used) return cached
    if (reading) return reading
    if (isWithin(COOLDOWN_MS, lastRefresh, now())) return null
    lastRefresh = now()
    return reload()
  }

  const find: JWTVerifyGetKey = async (header, token) => {
    if (!cached || !isWithin(MAX_AGE_MS, cached.readAt, now())) return (await reload()).find(header, token)
    const used = cached
    try {
      return await used.find(header, token)
    } catch (error) {
      const newer = error instanceof errors.JWKSNoMatchingKey ? await readNewerThan(used) : null
      if (!newer) throw error
      return newer.find(header, token)
    }
  }
  return Object.assign(find, { current: () => (cached && isWithin(MAX_AGE_MS, cached.readAt, now()) ? cached : null) })
}

/** Whether `now` is less than a time span after `since`. False also when the clock was set back meanwhile. */
const isWithin = (spanMs: number, since: number, now: number): boolean => now >= since && now - since < spanMs

const KeySetSchema = v.object({ keys: v.array(v.looseObject({ kty: v.optional(v.string()) })) })

/**
 * Makes a function that reads the key set of an issuer. The address of the set comes from the issuer's discovery
 * document, which is read on first use and kept as long as the process runs; calls at the same time share that
 * request, and a failure is not kept. Redirects are not followed, and an issuer with an https address cannot name
 * a key set without https.
 * Errors: plain ones, which are for the log only. Each request takes 10 s at most.
 */
export function createKeySetReader(issuer: string, fetcher: Fetch): () => Promise<JSONWebKeySet> {
  let address: Promise<string> | null = null
  return async () => {
    address ??= readDiscovery(issuer, fetcher).then(
      ({ jwks_uri }) => jwks_uri,
      (error) => {
        address = null
        throw error
      },
    )
    return v.parse(KeySetSchema, await readIssuerJson(fetcher, await address))
  }
}
