import { useState } from 'preact/hooks'
import type { ApiError } from '../../client/api/client.ts'
import { useDraft } from '../../client/drafts.ts'
import { objectOf, textOf } from '../../client/json.ts'

/** The maximum number of resources in one request. */
export const MAX_CHOSEN = 1_000

export const PARTS = ['unmanaged', 'managed', 'left_out'] as const
export type Part = (typeof PARTS)[number]

export interface Item {
  /** The position in the list, because an inventory may contain an identifier twice. */
  key: number
  id: string
  /** The cloud's name of the kind; empty if the identifier does not contain it. */
  kind: string
  /** The reason of an exclusion; empty for other items. */
  reason: string
}

export type Inventory = Record<Part, Item[]>

/** Reads the document of an import preview; null for an unknown form. */
export function readInventory(document: unknown): Inventory | null {
  const fields = objectOf(document)
  if (fields.version !== 1 || PARTS.some((part) => !Array.isArray(fields[part]))) return null
  const read = (part: Part) => (fields[part] as unknown[]).flatMap(toItem)
  return { unmanaged: read('unmanaged'), managed: read('managed'), left_out: read('left_out') }
}

function toItem(entry: unknown, key: number): Item[] {
  const { resource_id, kind, reason } = objectOf(entry)
  if (typeof resource_id !== 'string' || resource_id === '') return []
  return [{ key, id: resource_id, kind: textOf(kind), reason: textOf(reason) }]
}

export type Row = { type: 'kind'; kind: string; items: Item[] } | { type: 'item'; item: Item }

/** Returns the resources that match a search, grouped by kind, in the order of the first of each kind. */
export function toRows(items: readonly Item[], search: string): Row[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const found = items.filter(({ kind, id, reason }) => {
    const text = `${kind} ${id} ${reason}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const kinds = Map.groupBy(found, ({ kind }) => kind)
  return [...kinds].flatMap(([kind, same]): Row[] => [
    { type: 'kind', kind, items: same },
    ...same.map((item): Row => ({ type: 'item', item })),
  ])
}

export const itemsOf = (rows: readonly Row[]): Item[] => rows.flatMap((row) => (row.type === 'item' ? [row.item] : []))

/** Returns how many of these are selected. */
export function shareOf(items: readonly Item[], chosen: ReadonlySet<string>): 'all' | 'some' | 'none' {
  const count = items.filter(({ id }) => chosen.has(id)).length
  return count === 0 ? 'none' : count === items.length ? 'all' : 'some'
}

/** Selects these as well, up to the limit. `left` is the number of those beyond it. */
export function choose(chosen: ReadonlySet<string>, items: readonly Item[]) {
  const all = [...chosen.union(new Set(items.map(({ id }) => id)))]
  return { ids: all.slice(0, MAX_CHOSEN), left: Math.max(0, all.length - MAX_CHOSEN) }
}

/** Returns the reasons why resources were refused, by identifier. */
export function refusedIds(problems: ApiError['problems'], asked: readonly string[]): Map<string, string> {
  const refused = new Map<string, string>()
  for (const { loc, msg } of problems) {
    const position = loc.at(-1)
    const id = loc.at(-2) === 'resource_ids' && typeof position === 'number' ? asked[position] : undefined
    if (id !== undefined) refused.set(id, msg)
  }
  return refused
}

export type Choice = ReturnType<typeof useChoice>

/** Returns the selected resources and the typed sentence, stored for this tab. */
export function useChoice(sessionId: string) {
  const { value, change, clear } = useDraft(`import.${sessionId}`, { ids: [] as string[], sentence: '' })
  const [left, setLeft] = useState(0)
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map())
  const chosen: ReadonlySet<string> = new Set(value.ids)
  const select = (next: ReturnType<typeof choose>) => {
    setLeft(next.left)
    change({ ids: next.ids })
  }
  return {
    ...{ chosen, sentence: value.sentence },
    /** The number of selected resources beyond the limit of one request. */
    left,
    /** The reasons of the last refusal, by resource id. */
    refused,
    add: (items: readonly Item[]) => select(choose(chosen, items)),
    drop: (ids: Iterable<string>) => select({ ids: [...chosen.difference(new Set(ids))], left: 0 }),
    say: (sentence: string) => change({ sentence }),
    refuse: setRefused,
    clear: () => {
      setLeft(0)
      setRefused(new Map())
      clear()
    },
  }
}
