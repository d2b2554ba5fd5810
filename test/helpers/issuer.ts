import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { HttpResponse, http, type RequestHandler } from 'msw'

export interface Issuer {
  url: string
  /** Handlers of discovery and key set, for msw. */
  handlers: RequestHandler[]
  /** Requests in order: `discovery`, `keys`. */
  asked: string[]
  /** Published keys. A test replaces them to rotate. */
  keys: JWK[]
  /** While true, every answer is 503. */
  down: boolean
  /** Makes a token for this subject. Undefined claims are left out. */
  token(subject: string, claims?: JWTPayload, options?: { kid?: string; alg?: string; typ?: unknown }): Promise<string>
  /** Publishes a new key pair and signs with it from now on. */
  rotate(kid: string): Promise<void>
}

/** Creates an identity provider with one RSA key and client id `core`. */
export async function createIssuer(url = 'https://issuer.example.org'): Promise<Issuer> {
  let signing: CryptoKey
  let current = ''
  const rotate = async (kid: string) => {
    const pair = await generateKeyPair('RS256', { extractable: true })
    signing = pair.privateKey
    current = kid
    issuer.keys = [{ ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256', use: 'sig' }]
  }
  const answer = (what: string, body: () => object) => () => {
    issuer.asked.push(what)
    return issuer.down ? new HttpResponse(null, { status: 503 }) : HttpResponse.json(body())
  }
  const issuer: Issuer = {
    url,
    asked: [],
    keys: [],
    down: false,
    handlers: [
      http.get(
        `${url}/.well-known/openid-configuration`,
        answer('discovery', () => ({ issuer: url, jwks_uri: `${url}/keys` })),
      ),
      http.get(
        `${url}/keys`,
        answer('keys', () => ({ keys: issuer.keys })),
      ),
    ],
    token: (subject, claims = {}, options = {}) => {
      const now = Math.floor(Date.now() / 1000)
      const payload = { iss: url, sub: subject, aud: 'core', iat: now, exp: now + 300, ...claims }
      return new SignJWT(JSON.parse(JSON.stringify(payload)))
        .setProtectedHeader({
          alg: options.alg ?? 'RS256',
          kid: options.kid ?? current,
          ...('typ' in options && { typ: options.typ as string }),
        })
        .sign(signing)
    },
    rotate,
  }
  await rotate('first')
  return issuer
}
