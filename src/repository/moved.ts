import type { GitConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import { isBelowBase } from './address.ts'
import { isConfiguredHost } from './remote.ts'

/** Most redirects of one request: a repository may have been renamed more than once. */
export const MAX_MOVES = 3
export const REDIRECTS: readonly number[] = [301, 302, 307, 308]

/**
 * Returns the address of a repository that its host has moved, for example after a rename. Null when the redirect leads
 * to another host, port or scheme, out of the path of the configured server, or not to the same question: credentials
 * and checked addresses are for this host alone.
 * @param asked address of the request, which begins with that of the repository
 * @param location the header of the redirect
 */
export function movedAddress(git: GitConfig, repository: URL, asked: string, location: string | null): URL | null {
  const [to, from] = [location === null ? null : URL.parse(location, asked), new URL(asked)]
  const rest = from.pathname.slice(repository.pathname.length)
  if (!to || to.origin !== repository.origin || to.username !== '' || !to.pathname.endsWith(rest)) return null
  if (isConfiguredHost(git, repository) && !isBelowBase(git, to.pathname)) return null
  const moved = new URL(repository)
  moved.pathname = to.pathname.slice(0, to.pathname.length - rest.length)
  return moved.pathname === repository.pathname || moved.pathname === '/' ? null : moved
}

/** Makes a `fetch` for one repository that goes on at its new address after the host has moved it. */
export function followMoves(fetch: Fetch, git: GitConfig, repository: URL): Fetch {
  let current = repository
  return async (input, init) => {
    for (let moves = 0; ; moves++) {
      const asked = String(input).replace(repository.href, current.href)
      const response = await fetch(asked, init)
      const moved =
        moves < MAX_MOVES && REDIRECTS.includes(response.status)
          ? movedAddress(git, current, asked, response.headers.get('location'))
          : null
      if (!moved) return response
      await response.body?.cancel()
      current = moved
    }
  }
}
