import { runService } from '../shared/run-service.ts'
import { checkSettings, type Environment, type ServerSettings, serverSettings, textOf } from '../shared/settings.ts'
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
      return { fetch: createMappingApp({ token, catalogue: file, strict, log }).fetch }
    },
  })

interface MappingSettings extends ServerSettings {
  /** Path of the catalogue; empty passes every identifier through. */
  catalogue: string
  /** True if unknown identifiers get a 404 instead of being passed through. */
  strict: boolean
}

/** Reads the settings. Errors: `SettingsError`. */
export const readSettings = (env: Environment): MappingSettings =>
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
      catalogue,
      strict: strict === 'true',
    }
  })
