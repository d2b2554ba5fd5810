import { readFile, stat } from 'node:fs/promises'
import * as v from 'valibot'
import { parse } from 'yaml'
import type { Logger } from '../../src/base/log.ts'
import { reasonOf, SettingsError } from '../shared/settings.ts'

export const CLOUDS = ['azure', 'gcp', 'aws', 'oci', 'kubernetes'] as const

const text = (maximum: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(maximum))
/** The facts about one repository. Null means unknown; nothing is guessed. */
const entry = v.strictObject({
  repo_url: v.pipe(text(2048), v.regex(/^https:\/\/[^\s/]+\/\S+$/, 'must be an https URL of a repository')),
  engine_provider: v.nullish(v.picklist(CLOUDS), null),
  scope_id: v.nullish(text(1024), null),
})
const document = v.strictObject({ repositories: v.record(text(1024), entry) })

export type Catalogue = ReturnType<typeof parseCatalogue>

/** Parses the YAML mapping `repositories` of identifiers. Errors: `Error` whose message names every wrong field. */
export function parseCatalogue(yaml: string) {
  const parsed = v.safeParse(document, readYaml(yaml))
  if (!parsed.success)
    throw new Error(parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'document'}: ${issue.message}`).join('; '))
  const entries = new Map(Object.entries(parsed.output.repositories))
  const byUrl = new Map<string, v.InferOutput<typeof entry> | null>()
  for (const known of entries.values()) {
    const address = canonical(known.repo_url)
    // Two roots of one repository may lie in different clouds: the address alone does not identify one.
    byUrl.set(address, byUrl.has(address) ? null : known)
  }
  return {
    size: entries.size,
    /** Finds an entry by its identifier, else by the address of its repository. */
    find: (identifier: string) => entries.get(identifier) ?? byUrl.get(canonical(identifier)) ?? null,
  }
}

function readYaml(text: string): unknown {
  try {
    // A quoted scope keeps its leading zeros; an unquoted one would have lost them before it is checked.
    return parse(text, { maxAliasCount: 0 })
  } catch (error) {
    throw new Error(error instanceof Error ? (error.message.split('\n')[0] ?? 'no YAML') : 'no YAML')
  }
}

/** Normalises an address: git hosts treat the variants as the same repository. */
const canonical = (address: string) =>
  address
    .trim()
    .toLowerCase()
    .replace(/^https:\/\/[^/@]*@/, 'https://')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')

/**
 * Reads the file now and whenever a request finds it changed. An unusable new version keeps the last good catalogue.
 * Errors: `SettingsError` if unusable at the start.
 */
export async function openCatalogueFile(path: string, log: Logger): Promise<() => Promise<Catalogue>> {
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
  return async () => {
    reading ??= refresh().finally(() => {
      reading = null
    })
    await reading
    return catalogue
  }
}

/** Returns a mark that changes with every write and replacement of the file; `missing` when there is none. */
async function markOf(path: string): Promise<string> {
  const entry = await stat(path, { bigint: true }).catch(() => null)
  return entry ? `${entry.ino} ${entry.size} ${entry.mtimeNs}` : 'missing'
}
