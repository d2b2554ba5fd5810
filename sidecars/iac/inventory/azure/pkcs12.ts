import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'

export interface KeysAndCertificates {
  keys: KeyObject[]
  certificates: X509Certificate[]
}

/**
 * Reads a PKCS #12 file (RFC 7292) in DER, for a library that takes PEM only; neither Node's own modules open such a
 * file. Its checksum is not verified, because a key that fits its certificate has been decrypted rightly.
 * Errors: of any kind; they mean a wrong password, an unknown cipher or no such file.
 */
export async function readPkcs12(bytes: Buffer, password: string): Promise<KeysAndCertificates> {
  const { default: forge } = await import('node-forge')
  const { asn1, pkcs12, pki, util } = forge
  const open = (passphrase: string) => {
    const file = asn1.fromDer(bytes.toString('binary'))
    // The library knows passwords of ASCII only in the checksum of what AES encrypts.
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

/** The ciphers of the past are given a password in UTF-16, those of today one in UTF-8. */
function attempt<Value>(work: () => Value): Value | null {
  try {
    return work()
  } catch {
    return null
  }
}
