import { useState } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'
import { formatNumber } from '../../ui/words/format.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'
import type { Imported } from './report.ts'

const PAGE = 100

/** Resources of a round, each with its place in the code or with the reason why it was refused. */
export function ResultTable({ title, entries }: { title: string; entries: readonly Imported[] }) {
  const [limit, setLimit] = useState(PAGE)
  const hasWords = entries.some(({ error, details }) => error !== null || details !== '')
  return (
    <section class="import-table">
      <h4>
        {title} <span class="number quiet">{formatNumber(entries.length)}</span>
      </h4>
      <div class="scroll-x">
        <table>
          <thead>
            <tr>
              <th scope="col">Resource</th>
              <th scope="col">In the code</th>
              {hasWords && <th scope="col">{title === 'Refused' ? 'Why' : 'About'}</th>}
            </tr>
          </thead>
          <tbody>
            {entries.slice(0, limit).map(({ id, address, error, details }, index) => (
              <tr key={index}>
                <th scope="row" class="mono">
                  {shorten(visibleText(id), 500)}
                </th>
                <td class="mono">{shorten(visibleText(address), 500) || 'not written'}</td>
                {hasWords && (
                  <td class="import-words">
                    {shorten(visibleText([error, details].filter(Boolean).join('\n')), 4_000)}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {entries.length > limit && (
        <Button onClick={() => setLimit(limit + PAGE)}>
          Show more ({formatNumber(entries.length - limit)} hidden)
        </Button>
      )}
    </section>
  )
}
