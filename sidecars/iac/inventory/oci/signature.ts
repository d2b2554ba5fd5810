import { createHash, createPrivateKey, createSign, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto'
import { promisify } from 'node:util'
import { decodeJwt } from 'jose'
import * as v from 'valibot'
import { ask, askShape, type Expiring, jsonOf, keepToken, tokenText } from '../http.ts'
import { InventoryError, type InventoryRequest } from '../request.ts'

export interface Signer {
  /** `<tenancy>/<user>/<fingerprint>`, or `ST$<token>`. */
  keyId: string
  key: KeyObject
}

/**
 * Signs a call: a POST if it has a JSON body, else a GET. Version 1 signs exactly these headers in this order.
 * https://docs.oracle.com/iaas/Content/API/Concepts/signingrequests.htm
 */
function signHeaders(
  { keyId, key }: Signer,
  url: URL,
  body: string | null,
  now: Date,
  { withHost = true } = {},
): Record<string, string> {
  const headers: Record<string, string> = {
    date: now.toUTCString(),
    ...(withHost ? { host: url.host } : {}),
  }
  if (body !== null) {
    headers['content-length'] = String(Buffer.byteLength(body))
    headers['content-type'] = 'application/json'
    headers['x-content-sha256'] = createHash('sha256').update(body).digest('base64')
  }
  const lines = [
    `(request-target): ${body === null ? 'get' : 'post'} ${url.pathname}${url.search}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  const signature = createSign('RSA-SHA256').update(lines.join('\n')).sign(key, 'base64')
  const names = ['(request-target)', ...Object.keys(headers)].join(' ')
  const parameters = `keyId="${keyId}",algorithm="rsa-sha256",headers="${names}",signature="${signature}"`
  return { ...headers, authorization: `Signature version="1",${parameters}` }
}

/** Makes one signed call: a POST with this document, or a GET when it is null. */
export type OciClient = (source: string, url: URL, document: unknown) => Promise<{ json: unknown; headers: Headers }>

export function createOciClient(request: InventoryRequest, signer: () => Promise<Signer>): OciClient {
  return async (source, url, document) => {
    const body = document === null ? null : JSON.stringify(document)
    const headers = async () => signHeaders(await signer(), url, body, request.now())
    const { keyId } = await signer()
    const secrets = keyId.startsWith('ST$') ? [keyId.slice(3)] : []
    const call = { request, source, url, headers, secrets }
    const response = await ask(body === null ? call : { ...call, method: 'POST', body })
    return { json: jsonOf(source, response), headers: response.headers }
  }
}

const METADATA = 'OCI instance metadata'
const BASE = 'http://169.254.169.254/opc/v2'
/** The service is on the machine itself, so it answers at once if it exists. */
const LIMITS = { timeoutMs: 10_000, retries: 2 }
const AUTH = 'OCI authentication service'
const Answer = v.object({ token: tokenText })

async function askMetadata(request: InventoryRequest, path: string): Promise<string> {
  const headers = { authorization: 'Bearer Oracle' }
  return (await ask({ request, source: METADATA, url: `${BASE}/${path}`, headers, ...LIMITS })).text().trim()
}

/** Returns the region of the machine, for example `eu-frankfurt-1`. */
export const askInstanceRegion = (request: InventoryRequest): Promise<string> =>
  askMetadata(request, 'instance/canonicalRegionName')

/** Signs in as the machine, whose certificate vouches for a new key. `domain` is for example `oraclecloud.com`. */
export const instancePrincipal = (request: InventoryRequest, region: string, domain: string): (() => Promise<Signer>) =>
  keepToken(request, () => federate(request, region, domain))

async function federate(request: InventoryRequest, region: string, domain: string): Promise<Expiring<Signer>> {
  const [certificatePem, keyPem, intermediatePem] = await Promise.all(
    ['cert.pem', 'key.pem', 'intermediate.pem'].map((name) => askMetadata(request, `identity/${name}`)),
  )
  const machine = machineSigner(certificatePem ?? '', keyPem ?? '')
  const session = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  const body = JSON.stringify({
    certificate: stripPem(certificatePem ?? ''),
    publicKey: session.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    intermediateCertificates: [stripPem(intermediatePem ?? '')],
    fingerprintAlgorithm: 'SHA256',
  })
  const url = new URL(`https://auth.${region}.${domain}/v1/x509`)
  // This one endpoint excludes the host from the signature.
  const headers = () => signHeaders(machine, url, body, request.now(), { withHost: false })
  const { token } = await askShape(Answer, { request, source: AUTH, url, method: 'POST', headers, body })
  return { value: { keyId: `ST$${token}`, key: session.privateKey }, expiresAt: expiryOf(token) }
}

/** Creates the signer. The subject names the tenancy as `OU=opc-tenant:<ocid>` or `O=opc-identity:<ocid>`. */
function machineSigner(certificatePem: string, keyPem: string): Signer {
  try {
    const certificate = new X509Certificate(certificatePem)
    const tenancy = /=opc-(?:tenant|identity):(ocid1\.tenancy\.[a-z0-9.-]+)/.exec(certificate.subject)?.[1]
    const key = createPrivateKey(keyPem)
    if (tenancy && certificate.checkPrivateKey(key))
      // In lower case, as in the vendor's clients; Node returns upper case.
      return { keyId: `${tenancy}/fed-x509-sha256/${certificate.fingerprint256.toLowerCase()}`, key }
  } catch {
    // The error below suffices: a message of the parser may quote a part of the key.
  }
  throw new InventoryError(`${METADATA} holds no certificate of an instance`)
}

/** Returns the base64 of a PEM text. */
const stripPem = (pem: string): string => pem.replaceAll(/-----[A-Z ]+-----|\s/g, '')

function expiryOf(token: string): number {
  try {
    return (decodeJwt(token).exp ?? 0) * 1000
  } catch {
    throw new InventoryError(`${AUTH} gave a token of an unknown form`)
  }
}
