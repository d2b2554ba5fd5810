import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { serve } from '../../src/runtime/serve.ts'

/** Starts an identity provider on this machine with one RSA key. Answers it with a token that is valid for an hour. */
export async function startIssuer(subject: string): Promise<{ url: string; token: string; close(): Promise<void> }> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'bench', alg: 'RS256', use: 'sig' }]
  let url = ''
  const server = await serve(
    (request) => Response.json(request.url.endsWith('/keys') ? { keys } : { issuer: url, jwks_uri: `${url}/keys` }),
    { port: 0, hostname: '127.0.0.1' },
  )
  url = server.url
  const token = await new SignJWT({ email: 'bench@example.org', name: 'Bench' })
    .setProtectedHeader({ alg: 'RS256', kid: 'bench' })
    .setIssuer(url)
    .setSubject(subject)
    .setAudience('core')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey)
  return { url, token, close: () => server.close(500) }
}
