import { useState } from 'preact/hooks'
import type { Round } from '../../client/api/types.ts'
import { Button } from '../../ui/button.tsx'
import { formatNumber } from '../../ui/words/format.ts'
import { EntryCard } from './entry.tsx'
import type { DriftReport, Entry, Fate } from './report.ts'
import type { DriftDraft } from './use-drift-draft.ts'

const PAGE = 50
const ORDER: Fate[] = ['left', 'mended', 'excepted']
const titleOf = (fate: Fate, isPreview: boolean): string =>
  ({ left: isPreview ? 'Differs' : 'Left', mended: 'Mended', excepted: 'Expected to differ' })[fate]

/** The resources by what became of them. */
export function Entries({ report, round, draft }: { report: DriftReport; round: Round; draft: DriftDraft }) {
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const shown = report.entries.filter(({ address, file }) => `${address} ${file}`.toLowerCase().includes(wanted))
  return (
    <>
      {report.entries.length > 10 && (
        <input
          type="search"
          aria-label="Search resources"
          placeholder="Search by address or file"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      )}
      {wanted !== '' && <p role="status">{formatNumber(shown.length)} found</p>}
      {ORDER.map((fate) => (
        <Group
          key={fate}
          title={titleOf(fate, round.preview)}
          entries={shown.filter((entry) => entry.fate === fate)}
          round={round}
          draft={draft}
        />
      ))}
    </>
  )
}

interface GroupProps {
  title: string
  entries: Entry[]
  round: Round
  draft: DriftDraft
}

function Group({ title, entries, round, draft }: GroupProps) {
  const [limit, setLimit] = useState(PAGE)
  if (entries.length === 0) return null
  return (
    <section class="drift-group">
      <h3>
        {title} <span class="number quiet">{formatNumber(entries.length)}</span>
      </h3>
      {entries.slice(0, limit).map((entry, index) => (
        <EntryCard key={`${index} ${entry.address}`} entry={entry} round={round} draft={draft} />
      ))}
      {entries.length > limit && (
        <Button onClick={() => setLimit(limit + PAGE)}>
          Show more ({formatNumber(entries.length - limit)} hidden)
        </Button>
      )}
    </section>
  )
}
