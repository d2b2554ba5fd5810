import { createDecipheriv, createHash, pbkdf2Sync } from 'node:crypto'
import { contentOf, type Element, elements, integer, OCTETS, objectId, SEQUENCE } from './der.ts'

/** An encryption that this reader does not know. */
export class UnknownCipherError extends Error {}

const PBES2 = '1.2.840.113549.1.5.13'
const PBKDF2 = '1.2.840.113549.1.5.12'
const PBE_SHA1_3DES = '1.2.840.113549.1.12.1.3'
const MAX_ITERATIONS = 10_000_000

const PRFS: Record<string, string> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
}
const CIPHERS: ReadonlyMap<string, { name: string; keyBytes: number }> = new Map([
  ['2.16.840.1.101.3.4.1.2', { name: 'aes-128-cbc', keyBytes: 16 }],
  ['2.16.840.1.101.3.4.1.22', { name: 'aes-192-cbc', keyBytes: 24 }],
  ['2.16.840.1.101.3.4.1.42', { name: 'aes-256-cbc', keyBytes: 32 }],
  ['1.2.840.113549.3.7', { name: 'des-ede3-cbc', keyBytes: 24 }],
])

/**
 * Decrypts what PKCS #12 files hold.
 * @param algorithm an AlgorithmIdentifier: PBES2 (RFC 8018) or the older 3DES of RFC 7292
 * Errors: `UnknownCipherError`; any other error means a wrong password or broken bytes
 */
export function decrypt(algorithm: Element | undefined, data: Uint8Array, password: string): Uint8Array {
  const [id, parameters] = elements(contentOf(algorithm, SEQUENCE))
  const name = objectId(id)
  const values = elements(contentOf(parameters, SEQUENCE))
  if (name === PBES2) return decryptPbes2(values, data, password)
  if (name === PBE_SHA1_3DES) return decryptTripleDes(values, data, password)
  throw new UnknownCipherError(name)
}

function decryptPbes2([derivation, encryption]: Element[], data: Uint8Array, password: string): Uint8Array {
  const [kdf, kdfParameters] = elements(contentOf(derivation, SEQUENCE))
  const [cipherId, iv] = elements(contentOf(encryption, SEQUENCE))
  const cipher = CIPHERS.get(objectId(cipherId))
  if (objectId(kdf) !== PBKDF2 || !cipher) throw new UnknownCipherError(objectId(cipherId))
  const [salt, iterations, ...rest] = elements(contentOf(kdfParameters, SEQUENCE))
  const prf = rest.find(({ tag }) => tag === SEQUENCE)
  const hash = prf === undefined ? 'sha1' : PRFS[objectId(elements(prf.content)[0])]
  if (hash === undefined) throw new UnknownCipherError('PBKDF2')
  const key = pbkdf2Sync(password, contentOf(salt, OCTETS), iterationCount(iterations), cipher.keyBytes, hash)
  return decipherWith(cipher.name, key, contentOf(iv, OCTETS), data)
}

function decryptTripleDes([salt, iterations]: Element[], data: Uint8Array, password: string): Uint8Array {
  const derive = (purpose: 1 | 2, bytes: number) =>
    pkcs12Key(purpose, bytes, contentOf(salt, OCTETS), iterationCount(iterations), password)
  return decipherWith('des-ede3-cbc', derive(1, 24), derive(2, 8), data)
}

function iterationCount(iterations: Element | undefined): number {
  const value = integer(iterations)
  if (value < 1 || value > MAX_ITERATIONS) throw new RangeError('not an iteration count')
  return value
}

function decipherWith(cipher: string, key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array {
  const decipher = createDecipheriv(cipher, key, iv)
  return Buffer.concat([decipher.update(data), decipher.final()])
}

const BLOCK = 64

/**
 * The key derivation of RFC 7292, appendix B.2, with SHA-1.
 * @param purpose 1 a key, 2 an initialisation vector
 */
function pkcs12Key(purpose: 1 | 2, bytes: number, salt: Uint8Array, iterations: number, password: string): Uint8Array {
  const input = Buffer.concat([repeatToBlock(salt), repeatToBlock(Buffer.from(`${password}\0`, 'utf16le').swap16())])
  const derived: Buffer[] = []
  while (Buffer.concat(derived).length < bytes) {
    let digest = createHash('sha1').update(Buffer.alloc(BLOCK, purpose)).update(input).digest()
    for (let round = 1; round < iterations; round++) digest = createHash('sha1').update(digest).digest()
    derived.push(digest)
    addToBlocks(input, repeatToBlock(digest).subarray(0, BLOCK))
  }
  return Buffer.concat(derived).subarray(0, bytes)
}

/** The bytes, repeated up to the next whole block. */
const repeatToBlock = (bytes: Uint8Array): Buffer => Buffer.alloc(Math.ceil(bytes.length / BLOCK) * BLOCK, bytes)

/** Adds this number and one to each block, as big-endian numbers that wrap around. */
function addToBlocks(blocks: Buffer, number: Buffer): void {
  for (let start = 0; start < blocks.length; start += BLOCK) {
    let carry = 1
    for (let i = BLOCK - 1; i >= 0; i--) {
      carry += (blocks[start + i] ?? 0) + (number[i] ?? 0)
      blocks[start + i] = carry & 0xff
      carry >>= 8
    }
  }
}
