/**
 * Encryption of pinned directories. An object is the mark, a random salt and frames; each frame is sealed
 * with AES-256-GCM under a key derived for this object alone, and its nonce says which frame it is and
 * whether it is the last one. So a changed, missing, repeated, moved or foreign frame is found.
 */
const MARK = new TextEncoder().encode('PIN1')
const SALT_BYTES = 32
const FRAME_BYTES = 1024 * 1024
const TAG_BYTES = 16
const HEAD_BYTES = MARK.length + SALT_BYTES

type Bytes = Uint8Array<ArrayBuffer>

/**
 * @param secret the operator's key, as text
 * @param about what the object belongs to; decryption has to name the same
 */
export async function encrypt(secret: string, about: string, plain: Bytes): Promise<Bytes> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
  const key = await deriveKey(secret, salt)
  const frames = Math.max(1, Math.ceil(plain.length / FRAME_BYTES))
  const sealed = new Uint8Array(HEAD_BYTES + plain.length + frames * TAG_BYTES)
  sealed.set(MARK)
  sealed.set(salt, MARK.length)
  for (let frame = 0, at = HEAD_BYTES; frame < frames; frame++) {
    const part = plain.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES)
    const bytes = new Uint8Array(await crypto.subtle.encrypt(algorithm(about, frame, frame === frames - 1), key, part))
    sealed.set(bytes, at)
    at += bytes.length
  }
  return sealed
}

/**
 * The plain bytes of an object; null when it was made with another key, for something else, or is not whole.
 */
export async function decrypt(secret: string, about: string, sealed: Bytes): Promise<Bytes | null> {
  const body = sealed.length - HEAD_BYTES
  if (body < TAG_BYTES || MARK.some((byte, index) => sealed[index] !== byte)) return null
  const key = await deriveKey(secret, sealed.slice(MARK.length, HEAD_BYTES))
  const frames = Math.ceil(body / (FRAME_BYTES + TAG_BYTES))
  const plain = new Uint8Array(Math.max(0, body - frames * TAG_BYTES))
  for (let frame = 0; frame < frames; frame++) {
    const start = HEAD_BYTES + frame * (FRAME_BYTES + TAG_BYTES)
    const part = sealed.subarray(start, start + FRAME_BYTES + TAG_BYTES)
    const opened = await crypto.subtle
      .decrypt(algorithm(about, frame, frame === frames - 1), key, part)
      .catch(() => null)
    if (opened === null) return null
    plain.set(new Uint8Array(opened), frame * FRAME_BYTES)
  }
  return plain
}

function algorithm(about: string, frame: number, is_last: boolean) {
  const iv = new Uint8Array(12)
  const view = new DataView(iv.buffer)
  view.setUint32(7, frame)
  view.setUint8(11, is_last ? 1 : 0)
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(about), tagLength: TAG_BYTES * 8 }
}

async function deriveKey(secret: string, salt: Bytes): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), 'HKDF', false, ['deriveKey'])
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt, info: new TextEncoder().encode('pinned plan') }
  return await crypto.subtle.deriveKey(hkdf, material, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}
