import { InventoryError } from './types.ts'

export interface Page<Item> {
  items: readonly Item[]
  /** Cursor for the next page; null, undefined or an empty text after the last one. */
  next: string | null | undefined
}

/**
 * Reads a list to its end, page by page.
 * @param read is called with null for the first page, then with the cursor that the page before has named
 * Errors: `InventoryError` when there are more than `maxPages`, or when a page names one that was read before.
 */
export async function readPages<Item>(options: {
  source: string
  maxPages: number
  read: (cursor: string | null) => Promise<Page<Item>>
}): Promise<Item[]> {
  const { source, maxPages, read } = options
  const all: Item[] = []
  const seen = new Set<string>()
  let cursor: string | null = null
  for (let page = 1; ; page++) {
    const { items, next }: Page<Item> = await read(cursor)
    for (const item of items) all.push(item)
    if (!next) return all
    if (page >= maxPages) throw new InventoryError(`${source} has more than ${maxPages} pages of results`)
    if (seen.has(next)) throw new InventoryError(`${source} repeats a page of results`)
    seen.add(next)
    cursor = next
  }
}
