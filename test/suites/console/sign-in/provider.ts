import type { IncomingMessage, ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider, { type KoaContextWithOIDC } from 'oidc-provider'
import { AUDIENCE, CLIENT_ID, type Issuer, serveIssuer } from './issuer.ts'

/** Starts a certified OpenID provider with one public client, the console at `origin`. People sign in by name. */
export async function startIssuer(origin: () => string): Promise<Issuer> {
  const pair = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(pair.privateKey)), kid: 'key', alg: 'RS256', use: 'sig', kty: 'RSA' }
  let provider: Provider | undefined
  const issuer = await serveIssuer((request, response) => {
    provider ??= createProvider(issuer, key, origin())
    if (request.url?.startsWith('/interaction/')) void interact(provider, issuer, request, response)
    else void provider.callback()(request, response)
  })
  return Object.assign(issuer, {
    forget: () => {
      provider = undefined
    },
  })
}

function createProvider(issuer: Issuer, key: { kty: string }, origin: string): Provider {
  // The keys of cookies are new in each instance, so earlier sessions are unknown.
  return new Provider(issuer.url, {
    jwks: { keys: [key] },
    clients: [
      {
        client_id: CLIENT_ID,
        token_endpoint_auth_method: 'none',
        redirect_uris: [`${origin}/console/signed-in`, `${origin}/console/silent.html`],
        post_logout_redirect_uris: [`${origin}/console/`],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    clientBasedCORS: (_, given) => given === origin,
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    cookies: { keys: [crypto.randomUUID()] },
    issueRefreshToken: async () => issuer.refresh,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        // No confirmation is asked for.
        logoutSource: (ctx: KoaContextWithOIDC, form: string) => {
          ctx.body = `<!doctype html><title>Sign out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button>`
        },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'use',
          audience: AUDIENCE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: issuer.lifetime,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    // A frame of another origin gets its cookie over plain http on loopback, because both have one site.
    ttl: { AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 300, Session: 600, RefreshToken: 600 },
    interactions: { url: (_: KoaContextWithOIDC, { uid }) => `/interaction/${uid}` },
    extraTokenClaims: (_, token) => claimsOf(String((token as { accountId?: string }).accountId)),
    findAccount: (_, name) => ({ accountId: name, claims: () => ({ sub: name, ...claimsOf(name) }) }),
  })
}

const claimsOf = (name: string) => ({ name, email: `${name}@example.org`, email_verified: true })

/** Acts as the person at the provider's page. */
async function interact(
  provider: Provider,
  issuer: Issuer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { name, agrees } = issuer.person
  if (!agrees) {
    const refusal = { error: 'access_denied', error_description: 'Not today, <b>sorry</b>.' }
    return provider.interactionFinished(request, response, refusal, { mergeWithLastSubmission: false })
  }
  const grant = new provider.Grant({ accountId: name, clientId: CLIENT_ID })
  grant.addOIDCScope('openid profile email offline_access')
  grant.addResourceScope(AUDIENCE, 'use')
  const result = { login: { accountId: name }, consent: { grantId: await grant.save() } }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}
