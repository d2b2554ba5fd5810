import type { Context } from 'hono'
import type { AppEnv } from './env.ts'
import { answer } from './error-handler.ts'

/** One path with all its methods. Parameters are written `{name}`. */
export interface KnownPath {
  path: string
  methods: string[]
}

/**
 * For requests that no route took: 307 to the form without the trailing slash, 405 with `Allow` for
 * a known path, else 404. Never 401: authentication belongs to routes.
 */
export function onUnmatched(known: readonly KnownPath[]) {
  const methodsOf = (path: string) =>
    known.filter((candidate) => matches(candidate.path, path)).flatMap(({ methods }) => methods)
  return (c: Context<AppEnv>): Response => {
    const { path } = c.req
    const methods = methodsOf(path)
    if (methods.length > 0) {
      c.header('allow', methods.join(', '))
      return answer(c, 405, 'Method Not Allowed')
    }
    const bare = path.replace(/\/+$/, '')
    if (bare !== path && methodsOf(bare).length > 0) return c.redirect(bare + new URL(c.req.url).search, 307)
    return answer(c, 404, 'Not Found')
  }
}

function matches(pattern: string, path: string): boolean {
  const patternParts = pattern.split('/')
  const pathParts = path.split('/')
  return (
    patternParts.length === pathParts.length &&
    patternParts.every((part, index) => (part.startsWith('{') ? pathParts[index] !== '' : part === pathParts[index]))
  )
}
