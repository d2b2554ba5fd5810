import type { Cloud } from '../../base/vocabulary.ts'
import { providersOfCloud, typedProviders } from './providers.ts'

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
    return { name, providers: typedProviders(text) ?? (name === null ? null : providersOfCloud(cloud)) }
  })

/** Removes the abbreviations of types whose providers are not in play; lines without a type stay. */
export const fittingAbbreviations = (list: string, inPlay: ReadonlySet<string>): Catalogue =>
  filterEntries(list, inPlay, (text) => {
    const type = ABBREVIATION.exec(bodyOf(text))?.[1]
    return { name: type ? bodyOf(text).trim() : null, providers: type ? [type.slice(0, type.indexOf('_'))] : null }
  })

interface Reading {
  name: string | null
  providers: readonly string[] | null
}

function filterEntries(list: string, inPlay: ReadonlySet<string>, read: (text: string) => Reading): Catalogue {
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
