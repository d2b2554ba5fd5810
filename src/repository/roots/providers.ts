import { CLOUD_PROVIDERS, CLOUDS, type Cloud } from '../../base/vocabulary.ts'
import type { Folder } from './folders.ts'

/** A provider that code needs. */
export interface CodeProvider {
  /** Namespace and name, for example `acme/dns`. */
  source: string
  /** The cloud that it is of; null for one of none of them. */
  cloud: Cloud | null
}

/** Far beyond real repositories. */
const MAX_PROVIDERS = 1_000
/** The namespace that the engine takes for a name without a source. */
const DEFAULT_NAMESPACE = 'hashicorp'

/**
 * Returns the providers that the code in these folders declares, configures, or implies by the types of its blocks. A
 * name without a source has that of the same name in other folders, else the engine's default. Sorted by source; a host
 * in a source is left out. Errors: a plain one for too many.
 */
export function findProviders(folders: Iterable<Pick<Folder, 'providers'>>): CodeProvider[] {
  const names = new Set<string>()
  const sources = new Map<string, Set<string>>()
  for (const { providers } of folders)
    for (const [name, source] of providers) {
      names.add(name)
      if (source === null) continue
      const known = sources.get(name) ?? new Set()
      sources.set(name, known.add(normalise(source)))
    }
  const found = new Set([...names].flatMap((name) => [...(sources.get(name) ?? [normalise(name)])]))
  if (found.size > MAX_PROVIDERS) throw new Error(`the repository needs more than ${MAX_PROVIDERS} providers`)
  return [...found].sort().map((source) => ({ source, cloud: cloudOf(source) }))
}

function normalise(source: string): string {
  const [namespace, name] = source.toLowerCase().split('/').slice(-2)
  return name === undefined ? `${DEFAULT_NAMESPACE}/${namespace}` : `${namespace}/${name}`
}

function cloudOf(source: string): Cloud | null {
  const name = source.slice(source.indexOf('/') + 1).replace(/-beta$/, '')
  return CLOUDS.find((cloud) => CLOUD_PROVIDERS[cloud].includes(name)) ?? null
}
