import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'

const AGE_MS = 300_000
const COOLDOWN_MS = 10_000

export type KeySet = JWTVerifyGetKey & {
  /** Tells one reading of the keys from another; null when they have to be read. */
  current(): object | null
}
interface Held {
  find: JWTVerifyGetKey
  read_at: number
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
  let last_refresh = Number.NEGATIVE_INFINITY

  const reload = () => {
    reading ??= read()
      .then((set) => {
        held = { find: createLocalJWKSet(set), read_at: now() }
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
    if (within(COOLDOWN_MS, last_refresh, now())) return null
    last_refresh = now()
    return reload()
  }

  const find: JWTVerifyGetKey = async (header, token) => {
    if (!held || !within(AGE_MS, held.read_at, now())) return (await reload()).find(header, token)
    const used = held
    try {
      return await used.find(header, token)
    } catch (error) {
      const newer = error instanceof errors.JWKSNoMatchingKey ? await newerThan(used) : null
      if (!newer) throw error
      return newer.find(header, token)
    }
  }
  return Object.assign(find, { current: () => (held && within(AGE_MS, held.read_at, now()) ? held : null) })
}

/** False also when the clock was set back. */
const within = (span_ms: number, since: number, now: number): boolean => now >= since && now - since < span_ms
