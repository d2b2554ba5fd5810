import { isArgument } from './identifiers.ts'

/** An identifier that is not imported, with the reason. */
export interface Excluded {
  resource_id: string
  details: string
}

export interface Unmanaged {
  /** Importable identifiers, in code-point order. */
  ids: string[]
  /** Unmanaged identifiers that must not be imported. */
  withheld: Excluded[]
}

export const EXCEPTED = 'On the import exception list.'
const UNUSABLE = 'Cannot be given to the engine as an identifier.'

/** Finds identifiers in a scope that the state lacks, in code-point order, each in its first spelling. */
export function findUnmanaged(
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

/** Reads identifiers from a markdown list: in backticks with a remark, or the whole line, which may contain blanks. */
export const importExceptions = (markdown: string): string[] =>
  markdown.split(/\r?\n/).flatMap((line) => {
    const text = BULLET.exec(line)?.[1]?.trim()
    if (text === undefined) return []
    const id = /^`([^`]+)`/.exec(text)?.[1]?.trim() ?? text
    return id === '' ? [] : [id]
  })
