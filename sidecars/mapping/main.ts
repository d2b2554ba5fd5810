import type { Hono } from 'hono'
import { z } from 'zod'
import type { Logger } from '../../src/base/log.ts'
import { createSidecarApp, problemResponse, readBody } from '../shared/http.ts'
import { runService } from '../shared/run-service.ts'
import { checkSettings, type Environment, serverSettings, textOf } from '../shared/settings.ts'
import { type Catalogue, CLOUDS, openCatalogueFile } from './catalogue.ts'

/** Resolves repository identifiers until it is stopped. */
export const main = (): Promise<void> =>
  runService({
    name: 'mapping',
    tokenVariable: 'PLATFORM_MAPPING_TOKEN',
    readSettings,
    open: async ({ token, catalogue, strict }, log) => {
      const file = catalogue === '' ? null : await openCatalogueFile(catalogue, log)
      return { fetch: createMappingApp({ token, catalogue: file, strict, log }).fetch }
    },
  })

/** Reads the settings. Errors: `SettingsError`. */
export const readSettings = (env: Environment) =>
  checkSettings((problems) => {
    const catalogue = textOf(env, 'PLATFORM_MAPPING_CATALOGUE')
    const strict = textOf(env, 'PLATFORM_MAPPING_STRICT').toLowerCase()
    if (!['', 'true', 'false'].includes(strict))
      problems.push(`PLATFORM_MAPPING_STRICT must be true or false, got '${strict}'`)
    if (strict === 'true' && catalogue === '')
      problems.push(
        'PLATFORM_MAPPING_STRICT needs PLATFORM_MAPPING_CATALOGUE: without a catalogue nothing would be known',
      )
    return {
      ...serverSettings(env, 8081, 'PLATFORM_MAPPING_TOKEN', problems),
      /** Path of the catalogue; empty passes every identifier through. */
      catalogue,
      /** True if unknown identifiers get a 404 instead of being passed through. */
      strict: strict === 'true',
    }
  })

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
    const body = await readBody(c, Question, { maxBytes: 64 * 1024, unparseable: 400 })
    if (!body.ok) return body.response
    const { identifier, engine_provider = null } = body.value
    const known = options.catalogue && (await options.catalogue()).find(identifier)
    if (known) return c.json({ ...known, identifier, engine_provider: known.engine_provider ?? engine_provider })
    if (options.strict) return problemResponse(404, 'The identifier is not in the catalogue.')
    return c.json({ repo_url: identifier, identifier, engine_provider, scope_id: null })
  })
  return app
}
