import type { Round } from '../../client/api/types.ts'
import { useArtifact } from '../../client/sessions/use-artifact.ts'
import { CodeDiff } from '../../ui/code/code-diff.tsx'
import { CodeFile } from '../../ui/code/code-file.tsx'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { useOpenSession } from '../session/context.ts'
import { blockOf } from './code-block.ts'
import type { Entry } from './report.ts'

/** So many files are searched for the code of a resource whose file is not known. */
const MAX_SEARCHED = 8

type Change = Round['code_changes'][number]

/** The code that was changed for a resource: its block, where that can be told. */
export function CodeSide({ entry, round }: { entry: Entry; round: Round }) {
  const changes =
    entry.file === ''
      ? round.code_changes.slice(0, MAX_SEARCHED)
      : round.code_changes.filter(({ file_name }) => file_name === entry.file)
  return (
    <div class="drift-code">
      {changes.map((change) => (
        <ChangedCode key={change.id} change={change} address={entry.address} isKnown={entry.file !== ''} />
      ))}
    </div>
  )
}

function ChangedCode({ change, address, isKnown }: { change: Change; address: string; isKnown: boolean }) {
  const { session } = useOpenSession()
  const { data, error, refetch } = useArtifact(session.uuid, change.url)
  const name = change.file_name
  if (error) return <ErrorNotice error={error} title="The code could not be read" retry={() => void refetch()} />
  if (!data) return <Skeleton lines={4} label="The code is being read" />
  const isDiff = /^@@ -/m.test(data.text)
  const block = isDiff ? blockOf(data.text, address) : null
  if (block !== null) return <CodeDiff diff={block} name={name} layout="unified" />
  if (!isKnown) return null
  return (
    <details>
      <summary class="small">Everything that changed in this file</summary>
      {isDiff ? <CodeDiff diff={data.text} name={name} layout="unified" /> : <CodeFile text={data.text} name={name} />}
    </details>
  )
}
