import type { Tokens } from '../api/client.ts'
import { createStore, type Store } from '../api/store.ts'
import type { Components } from '../api/types.ts'

/** `open`: authentication is disabled. `out`: nobody is signed in. `ended`: somebody was, and has to sign in again. */
export type SignInState = 'open' | 'in' | 'out' | 'ended'

export interface SignIn {
  state: Store<SignInState>
  tokens: Tokens
  /** Leads to the identity provider, and back to the present address. */
  start(): Promise<void>
  /** Ends the session at the identity provider, too, where it can. */
  end(): Promise<void>
  /** Reads the answer of the identity provider in the address. Answers where to go on, from `/`. */
  complete(): Promise<string>
}

export type AuthConfig = Components['AuthConfig']

/** What the browser's part of OpenID Connect offers. It is loaded only where an issuer is configured. */
export interface Provider {
  /** The present access token; renews one that is about to expire, null when that is not possible. */
  token(): Promise<string | null>
  /** A new access token whatever the present one says; null when the person has to sign in. */
  renew(): Promise<string | null>
  start(returnTo: string): Promise<void>
  end(): Promise<void>
  complete(): Promise<string>
}

/** @param load loads the provider of a configuration with an issuer */
export async function createSignIn(
  config: AuthConfig,
  load: (config: AuthConfig) => Promise<Provider>,
): Promise<SignIn> {
  if (config.issuer_url === '') return withoutAuthentication()
  const provider = await load(config)
  const present = await provider.token()
  const state = createStore<SignInState>(present === null ? 'out' : 'in')
  const seen = (token: string | null) => {
    if (token !== null) state.set('in')
    else if (state.get() === 'in') state.set('ended')
    return token
  }
  return {
    state,
    tokens: {
      token: async () => seen(await provider.token()),
      refused: async () => seen(await provider.renew()) !== null,
    },
    start: () => provider.start(location.pathname + location.search + location.hash),
    end: async () => {
      await provider.end()
      state.set('out')
    },
    complete: async () => {
      const returnTo = await provider.complete()
      state.set('in')
      return returnTo
    },
  }
}

function withoutAuthentication(): SignIn {
  return {
    state: createStore<SignInState>('open'),
    tokens: { token: async () => null, refused: async () => false },
    start: async () => {},
    end: async () => {},
    complete: async () => '/',
  }
}
