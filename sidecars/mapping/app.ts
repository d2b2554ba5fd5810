import type { Hono } from 'hono'
import { z } from 'zod'
import type { Logger } from '../../src/base/log.ts'
import { createSidecarApp } from '../shared/create-app.ts'
import { problemResponse } from '../shared/problem.ts'
import { readBody } from '../shared/read-body.ts'
import { type Catalogue, CLOUDS } from './catalogue.ts'

const MAX_BODY_BYTES = 64 * 1024

const Question = z.strictObject({
  identifier: z.string().min(1).max(1024),
  engine_provider: z.enum(CLOUDS).nullish(),
})

/** Creates the routes of `contracts/mapping.v1.yaml`. Null passes all identifiers, `strict` answers 404. */
export function createMappingApp(options: {
  token: string
  catalogue: (() => Promise<Catalogue>) | null
  strict: boolean
  log: Logger
}): Hono {
  const app = createSidecarApp({ token: options.token, log: options.log })
  app.post('/v1/resolve', async (c) => {
    const body = await readBody(c, Question, { maxBytes: MAX_BODY_BYTES, unparseable: 400 })
    if (!body.ok) return body.response
    const { identifier, engine_provider = null } = body.value
    const known = options.catalogue && (await options.catalogue()).find(identifier)
    if (known) return c.json({ ...known, identifier, engine_provider: known.engine_provider ?? engine_provider })
    if (options.strict) return problemResponse(404, 'The identifier is not in the catalogue.')
    return c.json({ repo_url: identifier, identifier, engine_provider, scope_id: null })
  })
  return app
}
