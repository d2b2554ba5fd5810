import type { ComponentChildren } from 'preact'
import type { Round } from '../../../client/api/schemas.ts'
import { hasEnded } from '../../../client/sessions/use-session.ts'
import { Origin } from '../../../ui/badge.tsx'
import { Select } from '../../../ui/controls.tsx'
import { Empty } from '../../../ui/notice.tsx'
import { Term } from '../../../ui/term.tsx'
import { plural } from '../../../ui/words.ts'
import { useOpenSession } from '../../session/open-session.tsx'
import { attemptOf, type Change, useChangedFiles } from './changes.ts'
import { Counts, FileCard, FileList } from './file-card.tsx'
import { type Layout, useLayout, usePlace, useViewed } from './view-state.ts'

/** Shows the code changes of a round, file by file. */
export function CodePart({ round }: { round: Round }) {
  const place = usePlace()
  const numberOf = (change: Change) => attemptOf(change, round.attempts)?.number
  const numbers = new Set(round.code_changes.map(numberOf))
  const attempts = round.attempts.filter(({ number }) => numbers.has(number))
  const attempt = attempts.some(({ number }) => number === place.attempt) ? place.attempt : null
  const changes = round.code_changes.filter((change) => attempt === null || numberOf(change) === attempt)
  return (
    <section class="code-part" aria-label="Code">
      {changes.length === 0 ? (
        <NoCode round={round} />
      ) : (
        <Files key={`${round.id}-${attempt}`} round={round} changes={changes}>
          {attempts.length > 1 && (
            <Select
              class="code-attempts"
              name={
                <>
                  Changes of <Term name="attempt">attempt</Term>
                </>
              }
              aria-label="Changes of"
              value={attempt ?? ''}
              options={[
                ['', 'all attempts'],
                ...attempts.map(({ number, outcome }) => [number, `${number}: ${outcome ?? 'runs'}`] as const),
              ]}
              onSelect={(number) => place.go({ attempt: number === '' ? undefined : Number(number) })}
            />
          )}
        </Files>
      )}
    </section>
  )
}

const NoCode = ({ round }: { round: Round }) => (
  <>
    <h2>Code</h2>
    <Empty title={hasEnded(round) ? 'This round changed no code' : 'No code yet'}>
      {hasEnded(round)
        ? 'Its plan, if it has one, covers the unchanged code.'
        : 'Files appear here as soon as an attempt has written them.'}
    </Empty>
  </>
)

interface FilesProps {
  round: Round
  changes: readonly Change[]
  children: ComponentChildren
}

/** The number of files whose lines are drawn at once; the others are drawn on demand. */
const OPEN_AT_ONCE = 20

function Files({ round, changes, children }: FilesProps) {
  const { session } = useOpenSession()
  const place = usePlace()
  const view = useLayout()
  const { names, mark } = useViewed(session.uuid, round.number)
  const files = useChangedFiles(session.uuid, changes)
  const known = files.flatMap(({ result }) => result ?? [])
  const sum = (side: 'added' | 'removed') => known.reduce((total, result) => total + result[side], 0)
  const viewed = files.filter(({ name }) => names.includes(name)).length
  return (
    <>
      <header class="code-summary">
        <h2>Code</h2>
        <span>{plural(files.length, 'file')}</span>
        {known.length === files.length && <Counts added={sum('added')} removed={sum('removed')} />}
        <Origin by="code" />
        <div class="code-tools">
          {viewed > 0 && <span class="quiet small">{plural(viewed, 'file')} viewed</span>}
          {children}
          {view.wide && <Layouts {...view} />}
        </div>
      </header>
      <div class={files.length > 1 ? 'code-files' : ''}>
        {files.length > 1 && <FileList files={files} viewed={names} place={place} />}
        <div class="code-cards">
          {files.map((file, index) => (
            <FileCard
              key={file.name}
              {...file}
              layout={view.layout}
              viewed={names.includes(file.name)}
              onViewed={(is) => mark(file.name, is)}
              wanted={place.file === file.name}
              startsOpen={index < OPEN_AT_ONCE}
              links={{
                href: (line) => place.href(file.name, line),
                select: (line) => place.go({ file: file.name, line }),
                selected: place.file === file.name ? place.line : null,
              }}
            />
          ))}
        </div>
      </div>
    </>
  )
}

const LAYOUTS: [Layout, string][] = [
  ['unified', 'Unified'],
  ['split', 'Side by side'],
]

const Layouts = ({ layout, choose }: Pick<ReturnType<typeof useLayout>, 'layout' | 'choose'>) => (
  <fieldset class="code-layouts">
    <legend class="unseen">Layout of the changes</legend>
    {LAYOUTS.map(([value, name]) => (
      <label key={value}>
        <input
          type="radio"
          name="code-layout"
          value={value}
          checked={layout === value}
          onChange={() => choose(value)}
        />
        {name}
      </label>
    ))}
  </fieldset>
)
