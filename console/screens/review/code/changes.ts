import type { AttemptResult, Round } from '../../../client/api/client.ts'
import { type Artifact, useArtifacts } from '../../../client/sessions/use-session.ts'
import { compareLines, countChanges, type Row, readDiff, readWhole, sideOf } from '../../../ui/code/lines/rows.ts'

export type Change = Round['code_changes'][number]

/** Groups changes by file; the changes of one file, the oldest first, each stored by an attempt. */
export const groupByFile = (changes: readonly Change[]) =>
  [...Map.groupBy(changes, ({ file_name }) => file_name)]
    .map(([name, own]) => ({ name, changes: own }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))

/** Returns the attempt in which a change was stored; null if there is none. */
export function attemptOf(change: Change, attempts: readonly AttemptResult[]): AttemptResult | null {
  const at = Date.parse(change.created_at)
  const ran = ({ started_at, ended_at }: AttemptResult) =>
    Date.parse(started_at) <= at && (ended_at === null || at <= Date.parse(ended_at))
  return attempts.findLast(ran) ?? null
}

/** The combined change of a file. */
export interface FileResult {
  state: 'new' | 'changed' | 'deleted' | 'same'
  rows: Row[]
  /** The text of a new file; otherwise null. */
  text: string | null
  /** The text stored instead of lines, for example for a binary file; otherwise null. */
  raw: string | null
  added: number
  removed: number
}

/** Returns true for a new file, false for a diff. Without metadata, which a proxy may drop, the text decides. */
export const isNewFile = ({ metadata, text }: Artifact): boolean =>
  metadata.new_file === undefined ? !/^diff --git [^\n]*\n/.test(text) : metadata.new_file === 'true'

const DELETED = /^diff --git [^\n]*\ndeleted file mode /

/**
 * Combines the changes of several attempts: the text before the first one against the text after the last one. A
 * restarted round begins from the original code, so only the changes since the restart count.
 * @param artifacts the oldest first, at least one
 */
export function joinChanges(artifacts: readonly Artifact[]): FileResult {
  let chain: { before: Row[] | null; after: Row[]; rows: Row[]; joined: boolean; deleted: boolean } | null = null
  for (const artifact of artifacts) {
    const isNew = isNewFile(artifact)
    const rows = isNew ? readWhole(artifact.text, 'added') : readDiff(artifact.text)
    const before = isNew ? null : sideOf(rows, 'before')
    const goesOn: boolean = chain !== null && before !== null && sameText(chain.after, before)
    chain = {
      before: goesOn && chain ? chain.before : before,
      after: sideOf(rows, 'after'),
      rows,
      joined: goesOn,
      deleted: DELETED.test(artifact.text.slice(0, 1_000)) && !isNew,
    }
  }
  if (chain === null) return { state: 'same', rows: [], text: null, raw: null, added: 0, removed: 0 }
  const { before, after, deleted } = chain
  const last = artifacts.at(-1)?.text ?? ''
  if (before !== null && chain.rows.length === 0 && last.trim() !== '')
    return { state: 'changed', rows: [], text: null, raw: last, added: 0, removed: 0 }
  const rows = !chain.joined ? chain.rows : compareLines(before ?? [], after)
  const counts = countChanges(rows)
  if (before === null && !deleted) return { state: 'new', rows, text: textOf(after), raw: null, ...counts }
  const isSame = counts.added + counts.removed === 0
  return { state: isSame ? 'same' : deleted ? 'deleted' : 'changed', rows, text: null, raw: null, ...counts }
}

const sameText = (one: readonly Row[], other: readonly Row[]): boolean =>
  one.length === other.length && one.every(({ text }, index) => text === other[index]?.text)

const textOf = (rows: readonly Row[]): string =>
  rows.map(({ text }) => text).join('\n') + (rows.length > 0 && !rows.at(-1)?.unended ? '\n' : '')

const known = new WeakMap<Artifact, { artifacts: readonly Artifact[]; result: FileResult }>()

/** Returns the combined change of a file, cached by artifacts; null until all are loaded. */
function resultOf(read: readonly (Artifact | undefined)[]): FileResult | null {
  const artifacts = read.filter((artifact) => artifact !== undefined)
  const last = artifacts.at(-1)
  if (!last || artifacts.length < read.length) return null
  const before = known.get(last)
  if (before?.artifacts.length === artifacts.length && before.artifacts.every((one, at) => one === artifacts[at]))
    return before.result
  const result = joinChanges(artifacts)
  known.set(last, { artifacts, result })
  return result
}

export type ChangedFile = ReturnType<typeof useChangedFiles>[number]

/** Reads changes of a session, file by file. */
export function useChangedFiles(sessionId: string, changes: readonly Change[]) {
  const reads = useArtifacts(
    sessionId,
    changes.map(({ url }) => url),
  )
  const readById = new Map(changes.map(({ id }, index) => [id, reads[index]]))
  return groupByFile(changes).map(({ name, changes: own }) => {
    const ofFile = own.flatMap(({ id }) => readById.get(id) ?? [])
    return {
      name,
      /** The combined change; null while it loads. */
      result: resultOf(ofFile.map(({ data }) => data)),
      error: ofFile.find(({ error }) => error)?.error,
      retry: () => ofFile.forEach(({ error, refetch }) => void (error && refetch())),
    }
  })
}
