import { useId } from 'preact/hooks'
import type { Round } from '../../client/api/types.ts'
import { Badge, Origin, type Tone } from '../../ui/badge.tsx'
import { formatNumber } from '../../ui/words/format.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'
import { useOpenSession } from '../session/context.ts'
import { CodeSide } from './code-side.tsx'
import { type Difference, MAX_DIFFERENCES } from './operations.ts'
import type { Entry, Fate, Said } from './report.ts'
import type { DriftDraft } from './use-drift-draft.ts'

const FATES: Record<Fate, [sign: string, name: string, tone: Tone]> = {
  left: ['≠', 'differs', 'warn'],
  mended: ['✓', 'mended', 'good'],
  excepted: ['~', 'expected', 'neutral'],
}
const KINDS = {
  differs: null,
  'only-code': 'The code has it, the cloud does not.',
  'only-cloud': 'The cloud has it, the code does not.',
} as const
const MAX_VALUE = 2_000

/** One resource: what either side says, what became of it, and the code that was changed for it. */
export function EntryCard({ entry, round, draft }: { entry: Entry; round: Round; draft: DriftDraft }) {
  const { is_own } = useOpenSession()
  const id = useId().replaceAll(':', '')
  const { address, fate, file, kind, differences } = entry
  const [sign, fateName, tone] = FATES[fate]
  const name = address === '' ? 'The reading as a whole' : shorten(visibleText(address), 500)
  const explained = KINDS[kind]
  return (
    <article class="card drift-entry" aria-labelledby={id}>
      <header class="drift-entry-head">
        {fate === 'left' && address !== '' && is_own && (
          <input
            type="checkbox"
            aria-label={`Mend ${name}`}
            checked={draft.ticked.includes(address)}
            onChange={({ currentTarget }) => draft.tick(address, currentTarget.checked)}
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
      <div class={fate === 'mended' ? 'drift-sides' : undefined}>
        {differences.length > 0 && <Differences differences={differences} isMended={fate === 'mended'} />}
        {fate === 'mended' && <CodeSide entry={entry} round={round} />}
      </div>
      <Words entry={entry} isPreview={round.preview} />
    </article>
  )
}

function Differences({ differences, isMended }: { differences: Difference[]; isMended: boolean }) {
  const hidden = differences.length - MAX_DIFFERENCES
  return (
    <div class="scroll-x">
      <table class="drift-table">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">{isMended ? 'Code, before' : 'Code'}</th>
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
      {hidden > 0 && <p class="small quiet">and {formatNumber(hidden)} more, in the reading below</p>}
    </div>
  )
}

const Value = ({ of }: { of: string | null }) => (
  <td class={of === null ? 'quiet' : 'mono'}>{of === null ? 'not there' : visibleText(shorten(of, MAX_VALUE))}</td>
)

/** What the platform itself writes where a model gave no reason. */
const CODE_SAYS = /^(The last plan still shows this difference|It could not be read again)/

/** What was said beside the values. Where the engine's own list is known, the same list in words is left out. */
function Words({ entry, isPreview }: { entry: Entry; isPreview: boolean }) {
  const { address, fate, reason, rule, said, details, differences } = entry
  // A preview asks no model for words: its reason says the same about every resource.
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
      {said.length > 0 && <SaidList said={said} />}
    </>
  )
}

function SaidList({ said }: { said: Said[] }) {
  return (
    <ul class="drift-lines small">
      {said.slice(0, MAX_DIFFERENCES).map(({ attribute, text, reason, details }, index) => (
        <li key={index}>
          <Origin by="model" /> {attribute !== '' && <code>{visibleText(shorten(attribute, 500))}</code>}{' '}
          {visibleText(shorten([text, ...details, reason].filter(Boolean).join(' · '), 4_000))}
        </li>
      ))}
    </ul>
  )
}
