import { Badge, Origin, type Tone } from '../../../ui/badge.tsx'
import { formatNumber } from '../../../ui/words/format.ts'
import { shorten, visibleText } from '../../../ui/words/text.ts'
import { Prose } from './prose.tsx'
import { objectOf, textOf } from './reading.ts'

const TONES: Record<string, Tone> = { Succeeded: 'good', Success: 'good', Partial: 'warn', Failed: 'bad' }
const MAX_ITEMS = 200

/** `resource_address` as `Resource address`. */
export const nameOfKey = (key: string): string => {
  const words = key.replaceAll(/[_\s]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A report of any type in the order of its keys: status and numbers first, then texts, then lists. */
export function PlainView({ document, preview }: { document: unknown; preview: boolean }) {
  const { status, summary, ...rest } = objectOf(document)
  const counts = Object.entries(objectOf(summary)).filter(([, value]) => typeof value === 'number')
  const texts = Object.entries({ summary, ...rest }).filter(([, value]) => typeof value === 'string' && value !== '')
  const lists = Object.entries(rest).filter(([, value]) => Array.isArray(value) && value.length > 0)
  return (
    <>
      <p class="report-line">
        {textOf(status) && <Badge tone={TONES[textOf(status)] ?? 'neutral'}>{visibleText(textOf(status))}</Badge>}
        {counts.map(([name, value]) => (
          <span key={name} class="number">
            {nameOfKey(name)}: {formatNumber(value as number)}
          </span>
        ))}
        <Origin by="code" />
      </p>
      {texts.map(([name, value]) => (
        <div key={name}>
          {name !== 'summary' && name !== 'execution_summary' && <h3>{visibleText(nameOfKey(name))}</h3>}
          <Prose text={value as string} />
        </div>
      ))}
      {!preview && (
        <p class="quiet small report-line">
          Numbers and results <Origin by="code" /> · the other words <Origin by="model" />
        </p>
      )}
      {lists.map(([name, value]) => (
        <section key={name} aria-label={visibleText(nameOfKey(name))}>
          <h3>{visibleText(nameOfKey(name))}</h3>
          <Values values={value as unknown[]} />
        </section>
      ))}
    </>
  )
}

const Values = ({ values }: { values: readonly unknown[] }) => (
  <ul class="report-changes">
    {values.slice(0, MAX_ITEMS).map((value, index) => (
      <li key={index}>
        <Value value={value} />
      </li>
    ))}
    {values.length > MAX_ITEMS && <li class="quiet">and {formatNumber(values.length - MAX_ITEMS)} more</li>}
  </ul>
)

function Value({ value }: { value: unknown }) {
  if (typeof value !== 'object' || value === null) return <>{visibleText(shorten(String(value), 4_000))}</>
  const entries = Object.entries(value).filter(([, inner]) => inner !== null && inner !== '' && !isEmptyList(inner))
  return (
    <dl class="report-fields">
      {entries.map(([name, inner]) => (
        <div key={name}>
          <dt>{visibleText(nameOfKey(name))}</dt>
          <dd>{Array.isArray(inner) ? <Values values={inner} /> : <Value value={inner} />}</dd>
        </div>
      ))}
    </dl>
  )
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0
