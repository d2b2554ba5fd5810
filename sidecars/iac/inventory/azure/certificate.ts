import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readNamed, setting } from '../inputs.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import type { Proof } from './sign-in.ts'

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g

/** Reads certificate and key, PKCS #12 or PEM. The vendor's library signs but reads unencrypted PEM only. */
export async function readCertificateProof(request: InventoryRequest): Promise<() => Promise<Proof>> {
  const { key, certificate } = await loadCertificate(request)
  const pem = `${key.export({ format: 'pem', type: 'pkcs8' })}${certificate.toString()}`
  return async () => ({ pem })
}

async function loadCertificate({ env }: InventoryRequest): Promise<{ key: KeyObject; certificate: X509Certificate }> {
  const path = setting(env, 'ARM_CLIENT_CERTIFICATE_PATH')
  const name = path ? 'ARM_CLIENT_CERTIFICATE_PATH' : 'ARM_CLIENT_CERTIFICATE'
  const bytes = path ? await readNamed(path, name, env) : Buffer.from(env.ARM_CLIENT_CERTIFICATE ?? '', 'base64')
  const { keys, certificates } = await parse(bytes, env.ARM_CLIENT_CERTIFICATE_PASSWORD ?? '', name)
  for (const key of keys)
    for (const certificate of certificates)
      if (key.asymmetricKeyType === 'rsa' && certificate.checkPrivateKey(key)) return { key, certificate }
  throw new InventoryError(`${name} holds no RSA key with its certificate`)
}

async function parse(bytes: Buffer, password: string, name: string): Promise<KeysAndCertificates> {
  try {
    const text = bytes.toString('latin1')
    return text.includes('-----BEGIN ') ? readPem(text, password) : await readPkcs12(bytes, password)
  } catch {
    throw new InventoryError(`${name} is neither PKCS #12 nor PEM, or ARM_CLIENT_CERTIFICATE_PASSWORD does not open it`)
  }
}

function readPem(text: string, passphrase: string): KeysAndCertificates {
  const contents: KeysAndCertificates = { keys: [], certificates: [] }
  for (const [block, label = ''] of text.matchAll(BLOCK)) {
    if (label === 'CERTIFICATE') contents.certificates.push(new X509Certificate(block))
    if (label.endsWith('PRIVATE KEY')) contents.keys.push(createPrivateKey({ key: block, passphrase }))
  }
  return contents
}

interface KeysAndCertificates {
  keys: KeyObject[]
  certificates: X509Certificate[]
}

/**
 * Decrypts PKCS #12 (RFC 7292, DER), which neither the library nor Node reads. The checksum is not verified: a key that
 * fits its certificate was decrypted correctly. Errors of any kind: wrong password, unknown cipher, no such file.
 */
async function readPkcs12(bytes: Buffer, password: string): Promise<KeysAndCertificates> {
  const { default: forge } = await import('node-forge')
  const { asn1, pkcs12, pki, util } = forge
  const open = (passphrase: string) => {
    const file = asn1.fromDer(bytes.toString('binary'))
    // The library supports only ASCII passwords in the checksum of AES-encrypted content.
    if (Array.isArray(file.value)) file.value = file.value.slice(0, 2)
    return pkcs12.pkcs12FromAsn1(file, passphrase)
  }
  const { safeContents } = attempt(() => open(password)) ?? open(util.encodeUtf8(password))
  const contents: KeysAndCertificates = { keys: [], certificates: [] }
  for (const { key, cert } of safeContents.flatMap(({ safeBags }) => safeBags)) {
    if (key) contents.keys.push(createPrivateKey(pki.privateKeyToPem(key)))
    if (cert) contents.certificates.push(new X509Certificate(pki.certificateToPem(cert)))
  }
  return contents
}

/** Old ciphers use the password in UTF-16, current ones in UTF-8. */
function attempt<Value>(work: () => Value): Value | null {
  try {
    return work()
  } catch {
    return null
  }
}
