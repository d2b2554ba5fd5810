import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import {
  CONTEXT_0,
  CONTEXT_0_PRIMITIVE,
  contentOf,
  type Element,
  elements,
  inside,
  OCTETS,
  objectId,
  SEQUENCE,
} from './der.ts'
import { decrypt } from './password-cipher.ts'

const DATA = '1.2.840.113549.1.7.1'
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6'
const KEY_BAG = '1.2.840.113549.1.12.10.1.1'
const SHROUDED_KEY_BAG = '1.2.840.113549.1.12.10.1.2'
const CERTIFICATE_BAG = '1.2.840.113549.1.12.10.1.3'

export interface KeysAndCertificates {
  keys: KeyObject[]
  certificates: X509Certificate[]
}

/**
 * Reads a PKCS #12 file (RFC 7292) in DER. Its checksum is not verified, because a key that fits its certificate has
 * been decrypted rightly.
 * Errors: `UnknownCipherError`; any other error means a wrong password or no such file.
 */
export function readPkcs12(bytes: Uint8Array, password: string): KeysAndCertificates {
  const [, authenticated] = inside(bytes, SEQUENCE)
  const contents: KeysAndCertificates = { keys: [], certificates: [] }
  for (const part of elements(contentOf(elements(dataOf(authenticated))[0], SEQUENCE)))
    for (const bag of inside(safeContents(part, password), SEQUENCE)) readBag(bag, password, contents)
  return contents
}

/** The octets of a ContentInfo of type data. */
function dataOf(contentInfo: Element | undefined): Uint8Array {
  const [type, content] = elements(contentOf(contentInfo, SEQUENCE))
  if (objectId(type) !== DATA) throw new RangeError('not data')
  return contentOf(elements(contentOf(content, CONTEXT_0))[0], OCTETS)
}

function safeContents(contentInfo: Element, password: string): Uint8Array {
  const [type, content] = elements(contentOf(contentInfo, SEQUENCE))
  if (objectId(type) !== ENCRYPTED_DATA) return dataOf(contentInfo)
  const [, encrypted] = inside(contentOf(content, CONTEXT_0), SEQUENCE)
  const [, algorithm, octets] = elements(contentOf(encrypted, SEQUENCE))
  return decrypt(algorithm, contentOf(octets, CONTEXT_0_PRIMITIVE), password)
}

function readBag(bag: Element, password: string, contents: KeysAndCertificates): void {
  const [type, wrapped] = elements(contentOf(bag, SEQUENCE))
  const value = contentOf(wrapped, CONTEXT_0)
  const kind = objectId(type)
  if (kind === KEY_BAG) contents.keys.push(parsePrivateKey(value))
  if (kind === SHROUDED_KEY_BAG) {
    const [algorithm, octets] = inside(value, SEQUENCE)
    contents.keys.push(parsePrivateKey(decrypt(algorithm, contentOf(octets, OCTETS), password)))
  }
  if (kind === CERTIFICATE_BAG) {
    const [, certificate] = inside(value, SEQUENCE)
    contents.certificates.push(new X509Certificate(contentOf(elements(contentOf(certificate, CONTEXT_0))[0], OCTETS)))
  }
}

const parsePrivateKey = (der: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })
