import { useId } from 'preact/hooks'
import type { Round } from '../../client/api/schemas.ts'
import { useArtifact } from '../../client/sessions/use-artifact.ts'
import { Badge, Origin, type Tone } from '../../ui/badge.tsx'
import { CodeDiff, CodeFile } from '../../ui/code/code-view.tsx'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { formatNumber, shorten, visibleText } from '../../ui/words.ts'
import { useOpenSession } from '../session/session-context.ts'
import { blockOf } from './code-block.ts'
import type { DriftDraft } from './drift-actions.tsx'
import { type Difference, type Entry, type Fate, MAX_DIFFERENCES, type Remark } from './drift-report.ts'

const FATES: Record<Fate, [sign: string, name: string, tone: Tone]> = {
  left: ['≠', 'differs', 'warn'],
  remediated: ['✓', 'remediated', 'good'],
  excepted: ['~', 'expected', 'neutral'],
}
const KINDS = {
  differs: null,
  'only-code': 'The code has it, the cloud does not.',
  'only-cloud': 'The cloud has it, the code does not.',
} as const
const MAX_VALUE = 2_000

/** Shows one resource: its values in code and cloud, its outcome, and the code that was changed for it. */
export function EntryCard({ entry, round, draft }: { entry: Entry; round: Round; draft: DriftDraft }) {
  const { is_own } = useOpenSession()
  const id = useId().replaceAll(':', '')
  const { ticked } = draft.value
  const { address, fate, file, kind, differences } = entry
  const [sign, fateName, tone] = FATES[fate]
  const name = address === '' ? 'The drift check as a whole' : shorten(visibleText(address), 500)
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
        <Badge tone={tone}>
          <span aria-hidden="true">{sign}</span>
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
      <table class="drift-table">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">{isRemediated ? 'Code, before' : 'Code'}</th>
            <th scope="col">Cloud</th>
          </tr>
        </thead>
        <tbody>
          {differences.slice(0, MAX_DIFFERENCES).map(({ path, code, cloud }) => (
            <tr key={path}>
              <th scope="row" class="mono">
                {visibleText(shorten(path, MAX_VALUE)) || 'the whole'}
              </th>
              <Value of={code} />
              <Value of={cloud} />
            </tr>
          ))}
        </tbody>
      </table>
      {hidden > 0 && <p class="small quiet">and {formatNumber(hidden)} more, in the drift check below</p>}
    </div>
  )
}

const Value = ({ of }: { of: string | null }) => (
  <td class={of === null ? 'quiet' : 'mono'}>{of === null ? 'absent' : visibleText(shorten(of, MAX_VALUE))}</td>
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
            <li key={index}>{visibleText(shorten(line, 4_000))}</li>
          ))}
        </ul>
      )}
      {hasReason && (
        <p class="small">
          {isModels && <Origin by="model" />}{' '}
          {`${fate === 'excepted' ? 'Differs: ' : ''}${visibleText(shorten(reason, 4_000))}`}
        </p>
      )}
      {rule !== '' && (
        <p class="small">
          {isModels && <Origin by="model" />} Rule: {visibleText(shorten(rule, 4_000))}
        </p>
      )}
      {remarks.length > 0 && <Remarks remarks={remarks} />}
    </>
  )
}

function Remarks({ remarks }: { remarks: Remark[] }) {
  return (
    <ul class="drift-lines small">
      {remarks.slice(0, MAX_DIFFERENCES).map(({ attribute, text, reason, details }, index) => (
        <li key={index}>
          <Origin by="model" /> {attribute !== '' && <code>{visibleText(shorten(attribute, 500))}</code>}{' '}
          {visibleText(shorten([text, ...details, reason].filter(Boolean).join(' · '), 4_000))}
        </li>
      ))}
    </ul>
  )
}

/** The number of files that are searched for a resource without a known file. */
const MAX_SEARCHED = 8

type Change = Round['code_changes'][number]

/** Shows the changed code of a resource: its block if it can be found. */
function CodeSide({ entry, round }: { entry: Entry; round: Round }) {
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
  if (!data) return <Skeleton lines={4} label="Loading the code" />
  const isDiff = /^@@ -/m.test(data.text)
  const block = isDiff ? blockOf(data.text, address) : null
  if (block !== null) return <CodeDiff diff={block} name={name} layout="unified" />
  if (!isKnown) return null
  return (
    <details>
      <summary class="small">All changes of this file</summary>
      {isDiff ? <CodeDiff diff={data.text} name={name} layout="unified" /> : <CodeFile text={data.text} name={name} />}
    </details>
  )
}
