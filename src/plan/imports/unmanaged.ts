import { isArgument } from './identifiers.ts'

/** An identifier that is not imported, and why. */
export interface Excluded {
  resource_id: string
  details: string
}

export interface Unmanaged {
  /** May be imported, sorted. */
  ids: string[]
  /** Unmanaged too, but withheld. */
  withheld: Excluded[]
}

export const EXCEPTED = 'On the import exception list.'
const UNUSABLE = 'Cannot be given to the engine as an identifier.'

/**
 * What a scope holds beyond the managed state: each identifier once, as first spelled, in code-point order.
 * @param identity what makes two spellings the same identifier
 */
export function unmanagedResources(
  lists: { scope: readonly string[]; state: readonly string[]; exceptions: readonly string[] },
  identity: (id: string) => string,
): Unmanaged {
  const managed = new Set(lists.state.map(identity))
  const excepted = new Set(lists.exceptions.map(identity))
  const unmanaged = new Map<string, string>()
  for (const id of lists.scope) {
    if (id.trim() === '') continue
    const key = identity(id)
    if (!managed.has(key) && !unmanaged.has(key)) unmanaged.set(key, id)
  }
  const result: Unmanaged = { ids: [], withheld: [] }
  for (const [key, id] of [...unmanaged].sort(byId)) {
    if (excepted.has(key)) result.withheld.push({ resource_id: id, details: EXCEPTED })
    else if (!isArgument(id)) result.withheld.push({ resource_id: id, details: UNUSABLE })
    else result.ids.push(id)
  }
  return result
}

const byId = ([, a]: [string, string], [, b]: [string, string]) => (a < b ? -1 : a > b ? 1 : 0)

const BULLET = /^\s*[-*+]\s+(\S.*)$/

/**
 * Identifiers that are never imported: the bullets of a markdown list. An identifier in backticks may be
 * followed by a remark; one without them is the whole line, since identifiers may hold blanks.
 */
export const importExceptions = (markdown: string): string[] =>
  markdown.split(/\r?\n/).flatMap((line) => {
    const text = BULLET.exec(line)?.[1]?.trim()
    if (text === undefined) return []
    const id = /^`([^`]+)`/.exec(text)?.[1]?.trim() ?? text
    return id === '' ? [] : [id]
  })
