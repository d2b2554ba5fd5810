import { type User, UserManager, WebStorageStateStore } from 'oidc-client-ts'
import type { AuthConfig, Provider } from './session.ts'

/** Seconds before its end at which a token is renewed. */
const RENEW_BEFORE_S = 60

/**
 * The authorization code flow with PKCE. The tokens are kept for this tab only. They are renewed by the refresh token,
 * and without one in a hidden frame.
 */
export async function createProvider(config: AuthConfig): Promise<Provider> {
  const address = (name: string) => new URL(`/console/${name}`, location.origin).href
  const manager = new UserManager({
    authority: config.issuer_url,
    client_id: config.client_id,
    scope: config.scope,
    redirect_uri: address('signed-in'),
    silent_redirect_uri: address('silent.html'),
    post_logout_redirect_uri: address(''),
    response_type: 'code',
    automaticSilentRenew: false,
    accessTokenExpiringNotificationTimeInSeconds: RENEW_BEFORE_S,
    userStore: new WebStorageStateStore({ store: sessionStorage }),
    stateStore: new WebStorageStateStore({ store: sessionStorage }),
    ...(config.audience !== '' && { extraQueryParams: { audience: config.audience } }),
  })
  let renewing: Promise<string | null> | undefined
  const renew = () => {
    renewing ??= manager
      .signinSilent()
      .then(tokenOf, () => null)
      .finally(() => {
        renewing = undefined
      })
    return renewing
  }
  return {
    token: async () => {
      const user = await manager.getUser()
      if (user === null) return null
      return (user.expires_in ?? Number.POSITIVE_INFINITY) > RENEW_BEFORE_S ? tokenOf(user) : renew()
    },
    renew,
    start: (returnTo) => manager.signinRedirect({ state: returnTo }),
    end: async () => {
      await manager.signoutRedirect().catch(() => manager.removeUser())
    },
    complete: async () => {
      const { state } = await manager.signinRedirectCallback()
      return typeof state === 'string' && state.startsWith('/') && !state.startsWith('//') ? state : '/console/'
    },
  }
}

const tokenOf = (user: User | null): string | null => user?.access_token ?? null
