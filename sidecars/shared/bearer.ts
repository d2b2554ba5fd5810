import type { MiddlewareHandler } from 'hono'
import { problemResponse } from './problem.ts'

const unauthorized = (title: string) => problemResponse(401, title, undefined, { 'www-authenticate': 'Bearer' })

/** Requires `Authorization: Bearer <expected>`; a blank expected token accepts every request. */
export function bearer(expected: string): MiddlewareHandler {
  return async (c, next) => {
    if (!expected) return next()
    const presented = /^bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1]
    if (presented === undefined) return unauthorized('Missing or malformed bearer credentials.')
    if (!(await sameSecret(presented, expected))) return unauthorized('Invalid bearer token.')
    return next()
  }
}

/** Compares digests, so that neither the length nor a matching prefix shows in the time it takes. */
async function sameSecret(a: string, b: string): Promise<boolean> {
  const [left, right] = await Promise.all(
    [a, b].map((text) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))),
  )
  const x = new Uint8Array(left as ArrayBuffer)
  const y = new Uint8Array(right as ArrayBuffer)
  let difference = 0
  for (let i = 0; i < x.length; i++) difference |= (x[i] as number) ^ (y[i] as number)
  return difference === 0
}
