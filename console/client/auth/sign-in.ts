import { type Components, messageOf, type Tokens } from '../api/client.ts'
import { createStore } from '../observable.ts'
import { readStored, writeStored } from '../stored.ts'
import type { createProvider } from './provider.ts'

/** `open`: authentication is disabled. `out`: no user is signed in. `ended`: the sign-in has expired. */
type SignInState = 'open' | 'in' | 'out' | 'ended'

export type SignIn = Awaited<ReturnType<typeof createSignIn>>

export type AuthConfig = Components['AuthConfig']

/** The OpenID Connect client, loaded only when an issuer is configured. */
export type Provider = ReturnType<typeof createProvider>

const RETURN = '/console/signed-in'
/** The storage key of the address at which the sign-in started, for a retry after a failure. */
const WANTED = 'platform.wanted'
/** The time after a refusal in which the identity provider is not called again. */
const ASK_AGAIN_MS = 10_000

/** Creates the sign-in; `load` loads the provider if an issuer is configured. */
export async function createSignIn({ issuer_url }: AuthConfig, load: () => Promise<Provider>) {
  const provider = issuer_url === '' ? null : await load()
  // The provider's answer is about to be read, so an earlier sign-in of this tab does not count.
  const present = location.pathname !== RETURN && (await provider?.begin())
  const state = createStore<SignInState>(provider === null ? 'open' : present ? 'in' : 'out')
  const problem = createStore<string | null>(null)
  let refusedAt = Number.NEGATIVE_INFINITY
  const tokens: Tokens = {
    token: async () => (await provider?.token()) ?? null,
    refused: async () => {
      if (provider === null) return false
      if (state.get() === 'ended' && performance.now() - refusedAt < ASK_AGAIN_MS) return false
      const renewed = (await provider.renew()) !== null
      if (!renewed) refusedAt = performance.now()
      if (renewed) state.set('in')
      else if (state.get() === 'in') state.set('ended')
      return renewed
    },
  }
  return {
    state,
    /** The reason why the last sign-in did not start; null if it did. */
    problem,
    tokens,
    /** Redirects to the identity provider, which redirects back to the present address. Sets `problem` on failure. */
    start: async () => {
      problem.set(null)
      const wanted = wantedAddress()
      writeStored(sessionStorage, WANTED, wanted)
      await provider?.start(wanted).catch((error: unknown) => problem.set(messageOf(error)))
    },
    /** Ends the session, also at the identity provider where it supports that. */
    end: async () => {
      forgetWhatWasTyped()
      await provider?.end()
      if (provider) state.set('out')
    },
    /** Reads the identity provider's answer from the address. Returns the path to continue at. Throws `SignInFailed`. */
    complete: async () => {
      const returnTo = ownAddress((await provider?.complete()) ?? '')
      if (provider) state.set('in')
      return returnTo
    },
  }
}

/** Returns the present address or, on the page where a failed sign-in ends, the one before it. */
const wantedAddress = (): string =>
  location.pathname === RETURN
    ? ownAddress(String(readStored(sessionStorage, WANTED) ?? ''))
    : location.pathname + location.search + location.hash

/** Returns an address of the console, from `/`; the first screen for any other address. */
export function ownAddress(given: string): string {
  const url = URL.parse(given, location.origin)
  const isOwn = url?.origin === location.origin && url.pathname.startsWith('/console/') && url.pathname !== RETURN
  return isOwn ? url.pathname + url.search + url.hash : '/console/'
}

/** Removes all drafts, so that the next user of this tab does not see them. */
function forgetWhatWasTyped(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith('platform.')) sessionStorage.removeItem(key)
}
