import type { Round } from '../../../client/api/client.ts'
import { type Artifact, useArtifacts } from '../../../client/sessions/use-session.ts'
import { countChanges, type Row, readDiff, readWhole } from '../../../ui/code/lines/rows.ts'

/** What a round did to a file. */
export interface FileResult {
  state: 'new' | 'changed' | 'deleted'
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

/** Reads the stored change of a file. */
export function readChange(artifact: Artifact): FileResult {
  const { text } = artifact
  const isNew = isNewFile(artifact)
  const rows = isNew ? readWhole(text, 'added') : readDiff(text)
  const counts = countChanges(rows)
  if (isNew) return { state: 'new', rows, text, raw: null, ...counts }
  const state = DELETED.test(text.slice(0, 1_000)) ? 'deleted' : 'changed'
  return { state, rows, text: null, raw: rows.length === 0 && text.trim() !== '' ? text : null, ...counts }
}

const known = new WeakMap<Artifact, FileResult>()

function resultOf(artifact: Artifact): FileResult {
  const result = known.get(artifact) ?? readChange(artifact)
  known.set(artifact, result)
  return result
}

export type ChangedFile = ReturnType<typeof useChangedFiles>[number]

/** Reads the code changes of a round, which have each file once, in the order of the paths. */
export function useChangedFiles(sessionId: string, changes: Round['code_changes']) {
  const reads = useArtifacts(
    sessionId,
    changes.map(({ url }) => url),
  )
  return changes
    .map(({ file_name: name }, index) => {
      const { data, error, refetch } = reads[index] ?? {}
      return {
        name,
        /** What the round did to it; null while it loads. */
        result: data ? resultOf(data) : null,
        error,
        retry: () => void refetch?.(),
      }
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}
