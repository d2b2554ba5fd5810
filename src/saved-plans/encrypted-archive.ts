import type { Context } from '../context.ts'

export interface ArchiveOwner {
  session_uuid: string
  round_id: number
  plan_sha256: string
}

/** Largest archive. It is limited because it is in memory twice: in clear and encrypted. */
export const MAX_ARCHIVE_BYTES = 128 * 1024 * 1024
/** An encrypted object also holds the mark, the salt and one tag of 16 bytes per mebibyte. */
export const MAX_OBJECT_BYTES = MAX_ARCHIVE_BYTES + 1024 * 1024

export type Store = Pick<Context, 'storage' | 'config'>

/** Returns the text that encryption binds an archive to; see `about` at `encrypt`. */
const describeOwner = ({ session_uuid, round_id, plan_sha256 }: ArchiveOwner) =>
  `${session_uuid}\n${round_id}\n${plan_sha256}`

/**
 * Encrypts a packed directory and uploads it.
 * @returns the object key
 * Throws the errors of the object store.
 */
export async function storeArchive(
  { storage, config }: Store,
  owner: ArchiveOwner,
  archive: Uint8Array<ArrayBuffer>,
  signal?: AbortSignal,
): Promise<string> {
  const key = `sessions/${owner.session_uuid}/saved-plans/${owner.round_id}-${crypto.randomUUID().slice(0, 8)}.plan`
  const encrypted = await encrypt(config.worker.pin_key, describeOwner(owner), archive)
  await storage.put(key, encrypted, { content_type: 'application/octet-stream', signal })
  return key
}

/** Downloads and decrypts an archive; null when `decrypt` fails. Throws the errors of the object store. */
export async function fetchArchive(
  { storage, config }: Store,
  owner: ArchiveOwner,
  key: string,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const encrypted = await storage.get(key, { signal, maxBytes: MAX_OBJECT_BYTES })
  return await decrypt(config.worker.pin_key, describeOwner(owner), encrypted)
}

/** Maximum archives that one call deletes. */
const MAX_DELETIONS = 100

/**
 * Deletes the plans of failed sessions, which accept no further round: the archives, so that they cannot be applied, and
 * those of the code before the session. A failed deletion is logged, and the next call retries it.
 * @returns the number of deleted objects
 */
export async function deleteArchivesOfFailedSessions(
  { sql, storage, log }: Pick<Context, 'sql' | 'storage' | 'log'>,
  signal?: AbortSignal,
): Promise<number> {
  const rows = await sql<{ session_id: number; key: string }[]>`
    SELECT s.id AS session_id, k.key FROM sessions s, LATERAL (
      SELECT archive_key AS key, saved_at FROM saved_plans WHERE session_id = s.id
      UNION ALL SELECT s.base_plan_key, s.created_at) k
    WHERE s.last_status = 'failed' AND NOT s.in_flight AND k.key IS NOT NULL
    ORDER BY k.saved_at LIMIT ${MAX_DELETIONS}`
  let deleted = 0
  for (const { session_id, key } of rows) {
    if (signal?.aborted) break
    try {
      await storage.delete(key)
      await sql`UPDATE saved_plans SET archive_key = NULL WHERE session_id = ${session_id} AND archive_key = ${key}`
      await sql`UPDATE sessions SET base_plan_key = NULL WHERE id = ${session_id} AND base_plan_key = ${key}`
      deleted++
    } catch (error) {
      log.warn('the stored copy of a saved plan could not be deleted', { key, error })
    }
  }
  return deleted
}

// Format of an encrypted object: the mark `PLN1`, a random salt of 32 bytes, then frames of one mebibyte. Each frame is
// encrypted with AES-256-GCM under a key that is derived from the operator's key and the salt, for this object alone.
// The nonce of a frame holds its number and whether it is the last one, so that decryption fails when a frame was
// changed, left out, repeated, moved or taken from another object.
const MARK = new TextEncoder().encode('PLN1')
const SALT_BYTES = 32
const FRAME_BYTES = 1024 * 1024
const TAG_BYTES = 16
const HEAD_BYTES = MARK.length + SALT_BYTES

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Encrypts bytes in the format above.
 * @param secret the operator's key, as text
 * @param about identifies the object's owner; decryption succeeds only with the same text
 */
export async function encrypt(secret: string, about: string, plain: Bytes): Promise<Bytes> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
  const key = await deriveKey(secret, salt)
  const frames = Math.max(1, Math.ceil(plain.length / FRAME_BYTES))
  const encrypted = new Uint8Array(HEAD_BYTES + plain.length + frames * TAG_BYTES)
  encrypted.set(MARK)
  encrypted.set(salt, MARK.length)
  for (let frame = 0, at = HEAD_BYTES; frame < frames; frame++) {
    const part = plain.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES)
    const bytes = new Uint8Array(await crypto.subtle.encrypt(algorithm(about, frame, frame === frames - 1), key, part))
    encrypted.set(bytes, at)
    at += bytes.length
  }
  return encrypted
}

/** Decrypts an object; null when it is damaged or was encrypted with another key or another `about`. */
export async function decrypt(secret: string, about: string, encrypted: Bytes): Promise<Bytes | null> {
  const body = encrypted.length - HEAD_BYTES
  if (body < TAG_BYTES || MARK.some((byte, index) => encrypted[index] !== byte)) return null
  const key = await deriveKey(secret, encrypted.slice(MARK.length, HEAD_BYTES))
  const frames = Math.ceil(body / (FRAME_BYTES + TAG_BYTES))
  const plain = new Uint8Array(Math.max(0, body - frames * TAG_BYTES))
  for (let frame = 0; frame < frames; frame++) {
    const start = HEAD_BYTES + frame * (FRAME_BYTES + TAG_BYTES)
    const part = encrypted.subarray(start, start + FRAME_BYTES + TAG_BYTES)
    const opened = await crypto.subtle
      .decrypt(algorithm(about, frame, frame === frames - 1), key, part)
      .catch(() => null)
    if (opened === null) return null
    plain.set(new Uint8Array(opened), frame * FRAME_BYTES)
  }
  return plain
}

function algorithm(about: string, frame: number, isLast: boolean) {
  const iv = new Uint8Array(12)
  const view = new DataView(iv.buffer)
  view.setUint32(7, frame)
  view.setUint8(11, isLast ? 1 : 0)
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(about), tagLength: TAG_BYTES * 8 }
}

async function deriveKey(secret: string, salt: Bytes): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), 'HKDF', false, ['deriveKey'])
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt, info: new TextEncoder().encode('saved plan') }
  return await crypto.subtle.deriveKey(hkdf, material, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}
