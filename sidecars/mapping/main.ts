import { runService } from '../shared/run-service.ts'
import { createMappingApp } from './app.ts'
import { openCatalogueFile } from './catalogue-file.ts'
import { readSettings } from './settings.ts'

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
