import { readFile, stat } from 'node:fs/promises'
import type { Logger } from '../../src/base/log.ts'
import { SettingsError } from '../shared/settings.ts'
import { type Catalogue, parseCatalogue } from './catalogue.ts'

/** The catalogue in the current file. An unusable new version keeps the last good catalogue. */
export interface CatalogueFile {
  current(): Promise<Catalogue>
}

/** Reads the file now and whenever a request finds it changed. Errors: `SettingsError` if unusable at the start. */
export async function openCatalogueFile(path: string, log: Logger): Promise<CatalogueFile> {
  let seen = await markOf(path)
  let catalogue: Catalogue
  try {
    catalogue = parseCatalogue(await readFile(path, 'utf8'))
  } catch (error) {
    throw new SettingsError(`The catalogue ${path} cannot be used: ${reasonOf(error)}`)
  }
  log.info('catalogue read', { path, repositories: catalogue.size })
  let reading: Promise<void> | null = null
  const refresh = async () => {
    const mark = await markOf(path)
    if (mark === seen) return
    seen = mark
    try {
      catalogue = parseCatalogue(await readFile(path, 'utf8'))
      log.info('catalogue read again', { path, repositories: catalogue.size })
    } catch (error) {
      log.error('the changed catalogue cannot be used, the last good one stays', { path, reason: reasonOf(error) })
    }
  }
  return {
    async current() {
      reading ??= refresh().finally(() => {
        reading = null
      })
      await reading
      return catalogue
    },
  }
}

/** Returns a mark that changes with every write and replacement of the file; `missing` when there is none. */
async function markOf(path: string): Promise<string> {
  const entry = await stat(path, { bigint: true }).catch(() => null)
  return entry ? `${entry.ino} ${entry.size} ${entry.mtimeNs}` : 'missing'
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown error')
