import { CLOUD_PROVIDERS, type Cloud } from '../../base/vocabulary.ts'
import { providersOf, readBlocks } from '../../plan/code/blocks.ts'
import { folderOf, moduleSources, resolveFolder } from '../../plan/code/modules.ts'
import { mentionedTypes, type TypeName } from '../../plan/schema/read-schema.ts'
import { providerOfModule } from '../../repository/roots/headers.ts'
import { isCode } from './declared-blocks.ts'
import type { RepositoryFile } from './repository.ts'

/** Words for a cloud, in addition to the names of its providers. */
const CLOUD_WORDS: Record<Cloud, readonly string[]> = {
  aws: ['amazon'],
  azure: ['azure'],
  gcp: ['gcp'],
  oci: ['oracle'],
  kubernetes: ['k8s'],
}
const KNOWN: readonly string[] = Object.values(CLOUD_PROVIDERS).flat()

/** Words in template names that do not identify a cloud, such as queue. */
const GENERIC = new Set(
  (
    'access account allocation analytics app application autonomous autoscaler backup balancer binding block ' +
    'bucket bus cache claim cloud cluster compute config container cron daemon data database deployment disk ' +
    'dns endpoint file firewall flexible function functions gateway group groups horizontal identity ingress ' +
    'insights instance internet job key keys link list load log logs machine managed manager map memory ' +
    'namespace nat network object of persistent pod policy postgres private project public queue redis ' +
    'resource role route router run secret secrets security server service set sql state stateful storage ' +
    'subnet subnetwork table topic user vault virtual volume web webapp workspace zone'
  ).split(' '),
)

/**
 * Returns the providers that a request can be about: those in the code or the request, and those of the cloud when the
 * request names it or one of its services, or when those in the code are unknown. Providers are named by the first word
 * of their types, for example `aws`.
 * @param about.request words in any language
 * @param about.templates names of the templates of the cloud, for example `sqs_queue`
 */
export function providersInPlay(about: {
  cloud: Cloud
  files: readonly RepositoryFile[]
  request: string
  templates: readonly string[]
}): Set<string> {
  const { cloud, files, request, templates } = about
  const used = readProviders(files)
  const words = new Set(request.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
  const named = KNOWN.filter((provider) => words.has(provider))
  const services = templates.flatMap((name) => name.split('_')).filter((word) => !GENERIC.has(word))
  const namesCloud = [...CLOUD_WORDS[cloud], ...services].some((word) => words.has(word))
  const cloudCounts = namesCloud || used.isUnsure || used.providers.size === 0
  return new Set([...used.providers, ...named, ...(cloudCounts ? CLOUD_PROVIDERS[cloud] : [])])
}

/** Providers without a cloud: of the engine and of its vendor, for values, files and certificates. */
const UTILITIES = new Set(
  'terraform opentofu random null local tls time archive http external cloudinit dns template'.split(' '),
)

/**
 * Returns the providers of the code when none is of the cloud of the session, which has to name one; none when code or
 * modules were not read, so that their providers are not known.
 */
export function foreignProviders(files: readonly RepositoryFile[], cloud: Cloud): string[] {
  const { providers, isUnsure } = readProviders(files)
  return isUnsure ? [] : withoutCloud(providers, cloud)
}

/** Reports whether the code is known to use no provider of the cloud; helper providers count as none. */
export function lacksCloud(files: readonly RepositoryFile[], cloud: Cloud): boolean {
  const { providers, isUnsure } = readProviders(files)
  return !isUnsure && !CLOUD_PROVIDERS[cloud].some((provider) => providers.has(provider))
}

/** Returns them when the request has nothing of that cloud either, so that no rule of it applies. */
export function providersBesideCloud(about: Parameters<typeof providersInPlay>[0]): string[] {
  const inPlay = providersInPlay(about)
  return CLOUD_PROVIDERS[about.cloud].some((provider) => inPlay.has(provider))
    ? []
    : foreignProviders(about.files, about.cloud)
}

/** Returns the providers of resource types when none of them is of that cloud. */
export const foreignToCloud = (types: readonly string[], cloud: Cloud): string[] =>
  withoutCloud(new Set(types.map((type) => type.split('_', 1)[0] ?? type)), cloud)

function withoutCloud(providers: ReadonlySet<string>, cloud: Cloud): string[] {
  if (CLOUD_PROVIDERS[cloud].some((provider) => providers.has(provider))) return []
  return [...providers].filter((provider) => !UTILITIES.has(provider)).sort()
}

/** Returns the providers whose types a text names; null when it names none. */
function typedProviders(text: string): string[] | null {
  const providers = KNOWN.filter((provider) => new RegExp(`(?<![\\w-])${provider}_\\w`).test(text))
  return providers.length > 0 ? providers : null
}

/**
 * Returns the providers of the code; `isUnsure` if some was not read, or calls a module whose providers are unknown.
 */
function readProviders(files: readonly RepositoryFile[]): { providers: Set<string>; isUnsure: boolean } {
  const providers = new Set<string>()
  let isUnsure = false
  const code = files.filter(({ path }) => isCode(path))
  const folders = new Set(code.map(({ path }) => folderOf(path)))
  for (const file of code) {
    if (file.text === null) isUnsure = true
    for (const provider of declaredProviders(file)) providers.add(provider.replace(/-beta$/, ''))
    for (const source of moduleSources(file)) {
      const provider = providerOfCall(source, folders, folderOf(file.path))
      if (provider === null) isUnsure = true
      else if (provider !== '') providers.add(provider)
    }
  }
  return { providers, isUnsure }
}

/** Returns the providers of the blocks in a file. Blocks that read the state of another root have none. */
function declaredProviders({ path, blocks, text }: RepositoryFile): string[] {
  const types = blocks.flatMap((block) => /^(?:resource|data (?!terraform_)) ?([a-z0-9]+)_/.exec(block)?.[1] ?? [])
  if (text === null) return types
  const settings = readBlocks(path, text).blocks.filter(({ kind }) => kind === 'provider' || kind === 'terraform')
  return [...types, ...settings.flatMap(providersOf)]
}

/** Returns the provider in a registry address; empty for a local module in a known folder; else null. */
function providerOfCall(source: string, folders: ReadonlySet<string>, folder: string): string | null {
  const local = resolveFolder(folder, source)
  if (local !== null) return folders.has(local) ? '' : null
  return providerOfModule(source)
}

/** A list of reference material without entries that are of no use. */
export interface Catalogue {
  text: string
  /** Names of its entries; null for entries that differ from the form of the shipped lists. */
  names: (string | null)[]
  /** True if it had entries and all were removed. */
  wasEmptied: boolean
}

const ENTRY = /^(?:[-*+|]\s*(?![-*=])|\d+[.)]\s)\s*/
const TEMPLATE = /^`([a-z0-9_-]+)`/
const ABBREVIATION = /^`?([a-z][a-z0-9]*_[a-z0-9_]+)`?\s*:/

export const templateNames = (list: string): string[] =>
  entriesOf(list).flatMap(({ text }) => TEMPLATE.exec(bodyOf(text))?.[1] ?? [])

/**
 * Removes the templates of providers that are not in play. An entry in the shipped form, a bullet and a name in
 * backticks, is about the providers of its types, else about those of the cloud. Other entries stay, because the user
 * may edit the list.
 */
export const fittingTemplates = (list: string, cloud: Cloud, inPlay: ReadonlySet<string>): Catalogue =>
  filterEntries(list, inPlay, (text) => {
    const name = TEMPLATE.exec(bodyOf(text))?.[1] ?? null
    return { name, providers: typedProviders(text) ?? (name === null ? null : CLOUD_PROVIDERS[cloud]) }
  })

/** Returns the resource types in the title of a resource prompt, which is its first line. */
export const titleTypes = (template: string): TypeName[] =>
  mentionedTypes((template.trim().split('\n', 1)[0] ?? '').replaceAll('`', ' '))

/** Returns the lines of a list of abbreviations that are about these types, without bullets. */
export const abbreviationsOf = (list: string, types: ReadonlySet<string>): string[] =>
  entriesOf(list)
    .map(({ text }) => bodyOf(text).trim())
    .filter((line) => types.has(ABBREVIATION.exec(line)?.[1] ?? ''))

/** Removes the abbreviations of types whose providers are not in play; lines without a type stay. */
export const fittingAbbreviations = (list: string, inPlay: ReadonlySet<string>): Catalogue =>
  filterEntries(list, inPlay, (text) => {
    const type = ABBREVIATION.exec(bodyOf(text))?.[1]
    return { name: type ? bodyOf(text).trim() : null, providers: type ? [type.slice(0, type.indexOf('_'))] : null }
  })

function filterEntries(
  list: string,
  inPlay: ReadonlySet<string>,
  read: (text: string) => { name: string | null; providers: readonly string[] | null },
): Catalogue {
  const lines = list.split('\n')
  const names: (string | null)[] = []
  const entries = entriesOf(list)
  for (const { text, from, to } of entries) {
    const { name, providers } = read(text)
    if (providers === null || providers.some((provider) => inPlay.has(provider))) names.push(name)
    else lines.fill('\0', from, to)
  }
  return {
    text: lines.filter((line) => line !== '\0').join('\n'),
    names,
    wasEmptied: entries.length > 0 && names.length === 0,
  }
}

const bodyOf = (entry: string): string => entry.replace(ENTRY, '')

/** Returns the entries of a list: a bullet, number or table row, with the indented lines below it. */
function entriesOf(list: string): { text: string; from: number; to: number }[] {
  const entries: { text: string; from: number; to: number }[] = []
  for (const [index, line] of list.split('\n').entries()) {
    const last = entries.at(-1)
    if (ENTRY.test(line)) entries.push({ text: line, from: index, to: index + 1 })
    else if (last?.to === index && /^\s+\S/.test(line))
      Object.assign(last, { text: `${last.text}\n${line}`, to: index + 1 })
  }
  return entries
}
