import type { Context } from '../context.ts'
import { decrypt, encrypt } from './cipher.ts'

/** Whose pinned directory an archive is. */
export interface PinOwner {
  session_uuid: string
  round_id: number
  plan_sha256: string
}

/** Largest archive: it is in memory once in clear and once encrypted. */
export const MAX_ARCHIVE_BYTES = 128 * 1024 * 1024
/** Mark, salt and one tag a mebibyte come on top. */
const MAX_OBJECT_BYTES = MAX_ARCHIVE_BYTES + 1024 * 1024

type Store = Pick<Context, 'storage' | 'config'>

const aboutOf = ({ session_uuid, round_id, plan_sha256 }: PinOwner) => `${session_uuid}\n${round_id}\n${plan_sha256}`

/**
 * Encrypts a packed directory and uploads it; answers its object key.
 * Errors: those of the object store.
 */
export async function storeArchive(
  { storage, config }: Store,
  owner: PinOwner,
  archive: Uint8Array<ArrayBuffer>,
  signal?: AbortSignal,
): Promise<string> {
  const key = `sessions/${owner.session_uuid}/pins/${owner.round_id}-${crypto.randomUUID().slice(0, 8)}.pin`
  const sealed = await encrypt(config.worker.pin_key, aboutOf(owner), archive)
  await storage.put(key, sealed, { content_type: 'application/octet-stream', signal })
  return key
}

/**
 * Downloads and decrypts an archive; null when it does not belong to this pin, is damaged or was made with
 * another key.
 * Errors: those of the object store.
 */
export async function fetchArchive(
  { storage, config }: Store,
  owner: PinOwner,
  key: string,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const sealed = await storage.get(key, { signal, max_bytes: MAX_OBJECT_BYTES })
  return await decrypt(config.worker.pin_key, aboutOf(owner), sealed)
}
