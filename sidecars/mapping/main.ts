import { runService } from '../shared/run-service.ts'
import { type Environment, hostOf, portOf, SettingsError, textOf } from '../shared/settings.ts'
import { createMappingApp } from './app.ts'
import { openCatalogueFile } from './catalogue.ts'

/** Resolves repository identifiers until it is stopped. */
export const main = (): Promise<void> =>
  runService({
    name: 'mapping',
    tokenVariable: 'PLATFORM_MAPPING_TOKEN',
    readSettings,
    open: async ({ token, catalogue, strict }, log) => {
      const file = catalogue === '' ? null : await openCatalogueFile(catalogue, log)
      const app = createMappingApp({ token, catalogue: file && (() => file.current()), strict, log })
      return { fetch: (request) => app.fetch(request) }
    },
  })

export interface MappingSettings {
  host: string
  port: number
  /** The bearer token; blank accepts every request. */
  token: string
  /** Path of the catalogue; empty passes every identifier through. */
  catalogue: string
  /** True if unknown identifiers get a 404 instead of being passed through. */
  strict: boolean
}

/** Reads the settings. Errors: `SettingsError`. */
export function readSettings(env: Environment): MappingSettings {
  const problems: string[] = []
  const strict = textOf(env, 'PLATFORM_MAPPING_STRICT').toLowerCase()
  if (!['', 'true', 'false'].includes(strict))
    problems.push(`PLATFORM_MAPPING_STRICT must be true or false, got '${strict}'`)
  const catalogue = textOf(env, 'PLATFORM_MAPPING_CATALOGUE')
  if (strict === 'true' && catalogue === '')
    problems.push(
      'PLATFORM_MAPPING_STRICT needs PLATFORM_MAPPING_CATALOGUE: without a catalogue nothing would be known',
    )
  const settings: MappingSettings = {
    host: hostOf(env),
    port: portOf(env, 8081, problems),
    token: textOf(env, 'PLATFORM_MAPPING_TOKEN'),
    catalogue,
    strict: strict === 'true',
  }
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
  return settings
}
