import { useQuery } from '@tanstack/preact-query'
import { createContext } from 'preact'
import { useSyncExternalStore } from 'preact/compat'
import { useContext } from 'preact/hooks'
import { type Api, calls, type User } from './api/client.ts'
import type { AuthConfig, SignIn } from './auth/sign-in.ts'
import type { Store } from './observable.ts'
import type { Settings } from './settings.ts'

/** A request that the operator suggests on the first screen. */
export interface Example {
  mode: 'generate' | 'drift' | 'import'
  text: string
  repo_uri: string
  iac_path: string | null
  scope_id: string
  engine_providers: string
  is_partial: boolean
  preview: boolean
}

/** The content of `config.json` beside the console. */
export interface ConsoleConfig {
  /** The address of the API up to its version, for example `https://platform.example.com/api/v1`. */
  api_url: string
  examples: Example[]
  /** The sign-in configuration; read from the API when absent. */
  auth?: AuthConfig
  /** Which token the platform is given; `access` when absent. */
  token?: 'access' | 'identity'
}

/** The objects that all parts of the console share. */
export interface Platform {
  api: Api
  auth: AuthConfig
  signIn: SignIn
  config: ConsoleConfig
  settings: Store<Settings>
}

const PlatformContext = createContext<Platform | null>(null)

export const PlatformProvider = PlatformContext.Provider

/** Returns the platform. Throws when there is no provider above, which is a mistake in the code. */
export function usePlatform(): Platform {
  const platform = useContext(PlatformContext)
  if (!platform) throw new Error('no platform above this component')
  return platform
}

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get)

/** Reads the signed-in user, once per visit. */
export const useMe = () => useQuery(meQuery(usePlatform().api))

export const meQuery = (api: Api) => ({
  queryKey: ['me'] as const,
  queryFn: () => calls.getMe(api),
  staleTime: Number.POSITIVE_INFINITY,
})

type PanelRole = NonNullable<User['panel_role']>
const RANKS: readonly PanelRole[] = ['viewer', 'editor', 'admin']

/** Returns true when a user has at least this role in the panel. */
export const hasPanelRole = (user: User | undefined, role: PanelRole): boolean =>
  user?.panel_role != null && RANKS.indexOf(user.panel_role) >= RANKS.indexOf(role)
