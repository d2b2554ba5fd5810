import type { AttemptResult } from '../../client/api/types.ts'
import { Badge } from '../badge.tsx'
import { plural } from '../words/format.ts'
import { shorten, visibleText } from '../words/text.ts'
import { stepName } from './words.ts'

type Diagnostic = AttemptResult['diagnostics'][number]

/** What the engine, or a check, found in an attempt. */
export function Diagnostics({ record }: { record: AttemptResult }) {
  const more = record.diagnostics_total - record.diagnostics.length
  return (
    <ul class="round-diagnostics" aria-label="What was found">
      {record.diagnostics.map((diagnostic, index) => (
        <li key={index}>
          <Finding {...diagnostic} />
        </li>
      ))}
      {more > 0 && <li class="small quiet">and {plural(more, 'more finding')}</li>}
    </ul>
  )
}

function Finding({ severity, step, summary, detail, file, line, snippet, address, rule }: Diagnostic) {
  return (
    <div class="round-finding">
      <p>
        <Badge tone={severity === 'error' ? 'bad' : 'warn'}>{severity === 'error' ? 'Error' : 'Warning'}</Badge>{' '}
        <b>{cut(summary, 400)}</b>
      </p>
      <p class="small quiet">
        {step && <span>{stepName(step)}</span>}
        {file && <span class="mono">{`${cut(file, 200)}${line === null ? '' : `:${line}`}`}</span>}
        {address && <span class="mono">{cut(address, 200)}</span>}
        {rule && <span class="mono">{cut(rule, 80)}</span>}
      </p>
      {detail && <p class="round-detail small">{cut(detail, 2_000)}</p>}
      {snippet && <pre class="round-snippet">{cut(snippet, 4_000)}</pre>}
    </div>
  )
}

const cut = (text: string, length: number): string => visibleText(shorten(text, length))
