import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { AppEnv } from './env.ts'
import { answer } from './error-handler.ts'

/** A path of the API with its methods. Parameters are written as `{name}`. */
export interface KnownPath {
  path: string
  methods: string[]
}

/** Treats HEAD requests as unmatched. The framework would run the handler of GET for them, but the API has no HEAD. */
export const refuseHead = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.method === 'HEAD') return c.notFound()
  await next()
})

/**
 * Makes the handler of unmatched requests. A known path with another method is 405 with `Allow`; a known path with a
 * trailing slash is redirected by 307 to the form without it; anything else is 404. It never returns 401, because only
 * routes authenticate.
 */
export function onUnmatched(paths: readonly KnownPath[]) {
  const methodsOf = (path: string) =>
    paths.filter((candidate) => matches(candidate.path, path)).flatMap(({ methods }) => methods)
  return (c: Context<AppEnv>): Response => {
    const { path } = c.req
    const methods = methodsOf(path)
    if (methods.length > 0) {
      c.header('allow', methods.join(', '))
      return answer(c, 405, 'Method Not Allowed')
    }
    const bare = path.replace(/\/+$/, '')
    if (bare !== path && methodsOf(bare).length > 0) {
      // The path of the request is decoded, so it may have characters that are invalid in headers.
      const { pathname, search } = new URL(c.req.url)
      return c.redirect(pathname.replace(/\/+$/, '') + search, 307)
    }
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
