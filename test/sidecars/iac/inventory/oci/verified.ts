import { createVerify, type KeyObject } from 'node:crypto'
import { expect } from 'vitest'
import { type Call, PUBLIC_KEY } from '../outside.ts'

/** Checks the signature of a call as the service does, over what was received. Returns key id and signed names. */
export function verified(
  call: Pick<Call, 'headers' | 'url' | 'text' | 'method'> | undefined,
  key: KeyObject = PUBLIC_KEY,
) {
  const { headers, url, text = '', method = '' } = call ?? {}
  const [, key_id = '', names = '', signature = ''] =
    /^Signature version="1",keyId="([^"]+)",algorithm="rsa-sha256",headers="([^"]+)",signature="([^"]+)"$/.exec(
      headers?.get('authorization') ?? '',
    ) ?? []
  const value = (name: string) => {
    if (name === '(request-target)') return `${method.toLowerCase()} ${url?.pathname}${url?.search}`
    if (name === 'content-length') return String(Buffer.byteLength(text))
    return name === 'host' ? url?.host : headers?.get(name)
  }
  const lines = names.split(' ').map((name) => `${name}: ${value(name)}`)
  expect(createVerify('RSA-SHA256').update(lines.join('\n')).verify(key, signature, 'base64')).toBe(true)
  return { key_id, names: names.split(' ') }
}
