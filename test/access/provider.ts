import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import Provider, { type AccountClaims, type KoaContextWithOIDC } from 'oidc-provider'
import { listen } from '../../dev/server.ts'

export const CLIENT_ID = 'platform-web'
const API = 'api://platform-web'
const REDIRECT_URI = 'https://console.example.org/callback'

export interface IdentityProvider {
  url: string
  /** Requested paths, in order. */
  asked: string[]
  /** Claims of accounts by subject; an account without an entry has none but its subject. */
  accounts: Map<string, Omit<AccountClaims, 'sub'>>
  /** What the next access tokens are like. */
  minting: Minting
  /** Runs the code flow with PKCE as a browser does, for this account. */
  logIn(subject: string, client_id?: string): Promise<{ id_token: string; access_token: string }>
  /** Signs with new keys from now on. The old ones stay published if `keep` says so. */
  rotate(keep?: 'old keys published'): Promise<void>
  close(): Promise<void>
}

/** Changes of access tokens to those of another issuer. An undefined value is left out of the token. */
export interface Minting {
  alg: string
  header: Record<string, unknown>
  claims: Record<string, unknown>
}

/**
 * Starts a certified provider on a free loopback port, with public clients. The audience of identity tokens is the
 * client id, that of access tokens (JWT) the API's address.
 */
export async function startIdentityProvider(clients: readonly string[] = [CLIENT_ID]): Promise<IdentityProvider> {
  let provider: Provider
  const asked: string[] = []
  const accounts: IdentityProvider['accounts'] = new Map()
  const minting: Minting = { alg: 'ES256', header: {}, claims: {} }
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    asked.push(path)
    if (path.startsWith('/interaction/')) void consent(provider, request, response)
    else void provider.callback()(request, response)
  })
  const { url, close } = await listen(server)
  let keys: JWK[] = []
  const rotate: IdentityProvider['rotate'] = async (keep) => {
    const fresh = await Promise.all(['RS256', 'ES256', 'EdDSA', 'Ed25519'].map(createKey))
    // The first key of each kind signs.
    keys = keep ? [...fresh, ...keys] : fresh
    provider = createProvider(url, { keys, accounts, clients, minting })
  }
  await rotate()
  return {
    url,
    asked,
    accounts,
    minting,
    logIn: (subject, client_id = CLIENT_ID) =>
      codeFlow(url, {
        subject,
        client_id,
        redirect_uri: REDIRECT_URI,
        scope: 'openid profile email use',
        resource: API,
      }),
    rotate,
    close,
  }
}

async function createKey(alg: string): Promise<JWK> {
  const pair = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(pair.privateKey)), kid: randomBytes(8).toString('hex'), alg, use: 'sig' }
}

interface Made extends Pick<IdentityProvider, 'accounts' | 'minting'> {
  keys: JWK[]
  clients: readonly string[]
}

function createProvider(url: string, { keys, accounts, clients, minting }: Made): Provider {
  return new Provider(url, {
    jwks: { keys: keys as { kty: string }[] },
    clients: clients.map((client_id) => ({
      client_id,
      token_endpoint_auth_method: 'none',
      redirect_uris: [REDIRECT_URI],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    })),
    claims: {
      openid: ['sub', 'groups', 'groups_direct', 'hd', 'oid', 'tid', 'token_use', 'xms_edov'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username'],
    },
    formats: {
      customizers: {
        jwt: async (_, __, token) => {
          token.header = minting.header
          Object.assign(token.payload, minting.claims)
          // The provider insists on an audience; a member that JSON does not show stands for none.
          if ('aud' in minting.claims && minting.claims.aud === undefined)
            Object.defineProperty(token.payload, 'aud', { value: 'none', enumerable: false, writable: true })
        },
      },
    },
    // Providers in use put the claims into the identity token.
    conformIdTokenClaims: false,
    cookies: { keys: ['cookie-key-of-the-test'] },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'use',
          audience: API,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: minting.alg as 'ES256' } },
        }),
        useGrantedResource: () => true,
      },
    },
    ttl: { AccessToken: 300, AuthorizationCode: 60, Grant: 300, IdToken: 300, Interaction: 300, Session: 300 },
    interactions: { url: (_: KoaContextWithOIDC, { uid }) => `/interaction/${uid}` },
    findAccount: (_, subject) => ({ accountId: subject, claims: () => ({ sub: subject, ...accounts.get(subject) }) }),
  })
}

/** Acts as the person who logs in and agrees. */
async function consent(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { params } = await provider.interactionDetails(request, response)
  const accountId = String(params.login_hint)
  const grant = new provider.Grant({ accountId, clientId: String(params.client_id) })
  grant.addOIDCScope('openid profile email')
  grant.addResourceScope(API, 'use')
  const result = { login: { accountId }, consent: { grantId: await grant.save() } }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}

interface CodeFlow {
  subject: string
  client_id: string
  redirect_uri: string
  scope: string
  resource?: string
}

/**
 * Runs the code flow with PKCE of a public client, at the endpoints `/auth` and `/token` without discovery.
 * @throws Error with the provider's answer when there is no code or no token
 */
export async function codeFlow(
  url: string,
  { subject, client_id, redirect_uri, scope, resource }: CodeFlow,
): Promise<{ id_token: string; access_token: string; refresh_token?: string }> {
  const code_verifier = randomBytes(32).toString('base64url')
  const start = new URL(`${url}/auth`)
  const target: Record<string, string> = resource === undefined ? {} : { resource }
  start.search = new URLSearchParams({
    client_id,
    response_type: 'code',
    redirect_uri,
    scope,
    ...target,
    login_hint: subject,
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString()
  const landed = await walk(start)
  const code = landed.searchParams.get('code')
  if (!code) throw new Error(`no code at ${landed}`)
  const answer = await fetch(`${url}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id,
      redirect_uri,
      code,
      code_verifier,
      ...target,
    }),
  })
  if (!answer.ok) throw new Error(`no tokens: ${await answer.text()}`)
  return (await answer.json()) as { id_token: string; access_token: string }
}

/** Follows redirects with cookies until they leave the provider. */
async function walk(start: URL): Promise<URL> {
  const cookies = new Map<string, string>()
  let next = start
  for (let step = 0; step < 10 && next.host === start.host; step++) {
    const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
    const answer = await fetch(next, { headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=')
      cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    if (!location) throw new Error(`${next.pathname} answered ${answer.status}: ${await answer.text()}`)
    next = new URL(location, next)
  }
  return next
}
