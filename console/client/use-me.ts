import { useQuery } from '@tanstack/preact-query'
import { calls } from './api/calls.ts'
import type { Api } from './api/client.ts'
import type { User } from './api/schemas.ts'
import { usePlatform } from './platform.ts'

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
