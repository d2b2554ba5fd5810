import { ErrorResponse, ErrorTimeout, type User, UserManager, WebStorageStateStore } from 'oidc-client-ts'
import { type Components, SignInFailed } from '../api/client.ts'

/** The number of seconds before its expiry at which a token is renewed. */
const RENEW_BEFORE_S = 60
/** The minimum time between renewals ahead of expiry, for tokens that live only a minute and for wrong clocks. */
const RENEW_EVERY_MS = 20_000
/** The timeout for the identity provider, in seconds. */
const TIMEOUT_S = 10

/**
 * Creates the authorization code flow with PKCE, with tokens stored for this tab. Without a valid refresh token, a
 * hidden frame renews them.
 * @param presented which token the platform is given: identity tokens of issuers whose access tokens only they read
 */
export function createProvider(config: Components['AuthConfig'], presented: 'access' | 'identity' = 'access') {
  const manager = createManager(config)
  const tokenOf = (user: User) => (presented === 'identity' ? (user.id_token ?? null) : user.access_token)
  let renewing: Promise<string | null> | undefined
  let renewedAt = Number.NEGATIVE_INFINITY
  const renew = () => {
    renewing ??= renewOnce(manager, tokenOf)
      .catch(() => null)
      .finally(() => {
        renewing = undefined
        renewedAt = performance.now()
      })
    return renewing
  }
  const isFresh = (user: User) => {
    const left = presented === 'identity' ? user.profile.exp - Date.now() / 1000 : user.expires_in
    return (left ?? Number.POSITIVE_INFINITY) > RENEW_BEFORE_S
  }
  return {
    /** Returns true when a user is signed in. Renews an expired token first. */
    begin: async () => {
      const user = await manager.getUser()
      if (user === null || isFresh(user)) return user !== null
      return (await renew()) !== null
    },
    /** Returns the token, renewed if it is about to expire; null when there is none. */
    token: async () => {
      const user = await manager.getUser()
      if (user === null) return null
      if (isFresh(user) || performance.now() - renewedAt < RENEW_EVERY_MS) return tokenOf(user)
      // Only the platform decides whether a token is valid: its clock counts, not the one of this machine.
      return (await renew()) ?? tokenOf(user)
    },
    /** Returns a new token even if the present one is valid; null when the user has to sign in. */
    renew,
    /** Throws `SignInFailed`. */
    start: (returnTo: string): Promise<void> =>
      manager.signinRedirect({ state: returnTo }).catch((cause: unknown) => {
        throw new SignInFailed(`The identity provider (${config.issuer_url}) does not answer.`, { cause })
      }),
    end: (): Promise<void> => manager.signoutRedirect().catch(() => manager.removeUser()),
    /** Returns the address that was given to `start`, empty when there is none. Throws `SignInFailed`. */
    complete: async () => {
      const { state } = await manager.signinRedirectCallback().catch((cause: unknown) => {
        throw new SignInFailed(describe(cause), { cause })
      })
      return typeof state === 'string' ? state : ''
    },
  }
}

function createManager(config: Components['AuthConfig']): UserManager {
  const address = (name: string) => new URL(`/console/${name}`, location.origin).href
  return new UserManager({
    authority: config.issuer_url,
    client_id: config.client_id,
    scope: config.scope,
    redirect_uri: address('signed-in'),
    silent_redirect_uri: address('silent.html'),
    post_logout_redirect_uri: address(''),
    response_type: 'code',
    automaticSilentRenew: false,
    monitorSession: false,
    loadUserInfo: false,
    // Otherwise a renewal could put another user into the page of the first one.
    validateSubOnSilentRenew: true,
    requestTimeoutInSeconds: TIMEOUT_S,
    silentRequestTimeoutInSeconds: TIMEOUT_S,
    userStore: new WebStorageStateStore({ store: sessionStorage }),
    stateStore: new WebStorageStateStore({ store: sessionStorage }),
    ...(config.audience !== '' && { extraQueryParams: { audience: config.audience } }),
  })
}

async function renewOnce(manager: UserManager, tokenOf: (user: User) => string | null): Promise<string | null> {
  const before = await manager.getUser()
  const byRefreshToken = before?.refresh_token !== undefined
  const user = await manager.signinSilent().catch((error: unknown) => {
    if (!byRefreshToken || !(error instanceof ErrorResponse)) throw error
    return manager.signinSilent({ forceIframeAuth: true })
  })
  // An answer without an identity token leaves the old one.
  const token = user && tokenOf(user)
  return token !== null && before !== null && token === tokenOf(before) ? null : token
}

/** Returns the reason of a failed sign-in. A text of the provider is quoted. */
function describe(error: unknown): string {
  if (error instanceof ErrorTimeout) return 'The identity provider did not answer in time.'
  if (!(error instanceof ErrorResponse))
    return 'This answer of the identity provider belongs to no sign-in of this tab, or it came too late.'
  const reason =
    error.error === 'access_denied'
      ? 'The identity provider refused: access was denied.'
      : `The identity provider refused: ${error.error}.`
  return error.error_description ? `${reason} It says: “${error.error_description.slice(0, 300)}”` : reason
}
