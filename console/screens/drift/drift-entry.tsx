import { useId } from 'preact/hooks'
import type { Round } from '../../client/api/schemas.ts'
import { useDraft } from '../../client/drafts.ts'
import { useArtifact } from '../../client/sessions/use-artifact.ts'
import { Badge, Origin, type Tone } from '../../ui/badge.tsx'
import { CodeDiff, CodeFile } from '../../ui/code/code-view.tsx'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { excerpt, formatNumber, visibleText } from '../../ui/words.ts'
import { useOpenSession } from '../session/open-session.tsx'
import { blockOf } from './code-block.ts'
import type { Difference, Entry, Fate } from './drift-report.ts'

/** Returns the draft: the selected addresses and the typed sentence. */
export const useDriftDraft = (sessionId: string) =>
  useDraft<{ ticked: string[]; sentence: string }>(`drift.${sessionId}`, { ticked: [], sentence: '' })
export type DriftDraft = ReturnType<typeof useDriftDraft>

const OUTCOMES: Record<Fate, [sign: string, name: string, tone: Tone]> = {
  left: ['≠', 'differs', 'warn'],
  remediated: ['✓', 'remediated', 'good'],
  excepted: ['~', 'expected', 'neutral'],
}
const KINDS = {
  differs: null,
  'only-code': 'The code has it, the cloud does not.',
  'only-cloud': 'The cloud has it, the code does not.',
} as const
/** The maximum number of listed attributes of a resource, and length of a value. */
const MAX_DIFFERENCES = 200
const MAX_VALUE = 2_000

/** Shows one resource: its values in code and cloud, its outcome, and the code that was changed for it. */
export function EntryCard({ entry, round, draft }: { entry: Entry; round: Round; draft: DriftDraft }) {
  const { is_own } = useOpenSession()
  const id = useId().replaceAll(':', '')
  const { ticked } = draft.value
  const { address, fate, file, kind, differences } = entry
  const [sign, fateName, tone] = OUTCOMES[fate]
  const name = address === '' ? 'The drift check as a whole' : excerpt(address, 500)
  const explained = KINDS[kind]
  return (
    <article class="card drift-entry" aria-labelledby={id}>
      <header class="drift-entry-head">
        {fate === 'left' && address !== '' && is_own && (
          <input
            type="checkbox"
            aria-label={`Remediate ${name}`}
            checked={ticked.includes(address)}
            onChange={({ currentTarget }) => {
              const others = ticked.filter((other) => other !== address)
              draft.change({ ticked: currentTarget.checked ? [...others, address] : others })
            }}
          />
        )}
        <h4 id={id} class={address === '' ? '' : 'mono'}>
          {name}
        </h4>
        <Badge tone={tone} sign={sign}>
          {fateName}
        </Badge>
        {file !== '' && <span class="small quiet mono">{visibleText(file)}</span>}
      </header>
      {explained && <p>{explained}</p>}
      <div class={fate === 'remediated' ? 'drift-sides' : undefined}>
        {differences.length > 0 && <Differences differences={differences} isRemediated={fate === 'remediated'} />}
        {fate === 'remediated' && <CodeSide entry={entry} round={round} />}
      </div>
      <Words entry={entry} isPreview={round.preview} />
    </article>
  )
}

function Differences({ differences, isRemediated }: { differences: Difference[]; isRemediated: boolean }) {
  const hidden = differences.length - MAX_DIFFERENCES
  return (
    <div class="scroll-x">
      <Table class="drift-table" head={['What', isRemediated ? 'Code, before' : 'Code', 'Cloud']}>
        {differences.slice(0, MAX_DIFFERENCES).map(({ path, code, cloud }) => (
          <tr key={path}>
            <th scope="row" class="mono">
              {excerpt(path, MAX_VALUE) || 'the whole'}
            </th>
            <Value of={code} />
            <Value of={cloud} />
          </tr>
        ))}
      </Table>
      {hidden > 0 && <p class="small quiet">and {formatNumber(hidden)} more, in the drift check below</p>}
    </div>
  )
}

const Value = ({ of }: { of: string | null }) => (
  <td class={of === null ? 'quiet' : 'mono'}>{of === null ? 'absent' : excerpt(of, MAX_VALUE)}</td>
)

/** The reasons that the platform writes, not a model. */
const CODE_SAYS = /^(The last plan still shows this difference|It could not be read again)/

/** Shows the remarks beside the values. A list in words is hidden when the differences are known. */
function Words({ entry, isPreview }: { entry: Entry; isPreview: boolean }) {
  const { address, fate, reason, rule, remarks, details, differences } = entry
  // A preview calls no model for words: its reason is the same for every resource.
  const hasReason = reason !== '' && !(isPreview && differences.length > 0 && fate === 'left')
  const isModels = !isPreview && address !== '' && !CODE_SAYS.test(reason)
  const lines = differences.length > 0 ? [] : details
  return (
    <>
      {lines.length > 0 && (
        <ul class="drift-lines small">
          {lines.slice(0, MAX_DIFFERENCES).map((line, index) => (
            <li key={index}>{excerpt(line, 4_000)}</li>
          ))}
        </ul>
      )}
      {hasReason && (
        <p class="small">
          {isModels && <Origin by="model" />} {`${fate === 'excepted' ? 'Differs: ' : ''}${excerpt(reason, 4_000)}`}
        </p>
      )}
      {rule !== '' && (
        <p class="small">
          {isModels && <Origin by="model" />} Rule: {excerpt(rule, 4_000)}
        </p>
      )}
      {remarks.length > 0 && (
        <ul class="drift-lines small">
          {remarks.slice(0, MAX_DIFFERENCES).map(({ attribute, text }, index) => (
            <li key={index}>
              <Origin by="model" /> {attribute !== '' && <code>{excerpt(attribute, 500)}</code>} {excerpt(text, 4_000)}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** The number of files that are searched for a resource without a known file. */
const MAX_SEARCHED = 8

/** Shows the changed code of a resource: its block if it can be found. */
const CodeSide = ({ entry: { address, file }, round }: { entry: Entry; round: Round }) => (
  <div class="drift-code">
    {round.code_changes
      .filter(({ file_name }, index) => (file === '' ? index < MAX_SEARCHED : file_name === file))
      .map((change) => (
        <ChangedCode key={change.id} change={change} address={address} isKnown={file !== ''} />
      ))}
  </div>
)

interface ChangeProps {
  change: Round['code_changes'][number]
  address: string
  /** True if the change is known to concern the resource. */
  isKnown: boolean
}

function ChangedCode({ change: { url, file_name: name }, address, isKnown }: ChangeProps) {
  const { session } = useOpenSession()
  const { data, error, refetch } = useArtifact(session.uuid, url)
  if (error) return <ErrorNotice error={error} title="The code could not be read" retry={() => void refetch()} />
  if (!data) return <Skeleton lines={4} label="Loading the code" />
  const isDiff = /^@@ -/m.test(data.text)
  const block = isDiff ? blockOf(data.text, address) : null
  if (block !== null) return <CodeDiff diff={block} name={name} />
  if (!isKnown) return null
  return (
    <details>
      <summary class="small">All changes of this file</summary>
      {isDiff ? <CodeDiff diff={data.text} name={name} /> : <CodeFile text={data.text} name={name} />}
    </details>
  )
}
