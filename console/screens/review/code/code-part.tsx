import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Round, Session } from '../../../client/api/schemas.ts'
import { useArtifacts } from '../../../client/sessions/use-artifact.ts'
import { hasEnded } from '../../../client/sessions/use-session.ts'
import { Origin } from '../../../ui/badge.tsx'
import { Empty } from '../../../ui/notice.tsx'
import { Term } from '../../../ui/term.tsx'
import { plural } from '../../../ui/words.ts'
import { attemptOf, type Change, type ChangedFile, type FileResult, groupByFile, resultOf } from './changes.ts'
import { Counts, FileCard, FileList } from './file-card.tsx'
import { type Layout, useLayout, usePlace, useViewed } from './view-state.ts'

interface PartProps {
  session: Session
  round: Round
}

/** Shows the code changes of a round, file by file. */
export function CodePart({ session, round }: PartProps) {
  const place = usePlace()
  const touching = useMemo(() => attemptsOf(round), [round])
  const attempt = touching.some(({ number }) => number === place.attempt) ? place.attempt : null
  const changes = round.code_changes.filter(
    (change) => attempt === null || attemptOf(change, round.attempts)?.number === attempt,
  )
  return (
    <section class="code-part" aria-label="Code">
      {changes.length === 0 ? (
        <NoCode round={round} />
      ) : (
        <Files key={`${round.id}-${attempt}`} session={session} round={round} changes={changes}>
          {touching.length > 1 && (
            <label class="code-attempts">
              <span>
                Changes of <Term name="attempt">attempt</Term>
              </span>
              <select
                aria-label="Changes of"
                value={attempt ?? ''}
                onChange={({ currentTarget: { value } }) =>
                  place.go({ attempt: value === '' ? undefined : Number(value) })
                }
              >
                <option value="">all attempts</option>
                {touching.map(({ number, outcome }) => (
                  <option key={number} value={number}>
                    {number}: {outcome ?? 'runs'}
                  </option>
                ))}
              </select>
            </label>
          )}
        </Files>
      )}
    </section>
  )
}

/** Returns the attempts that changed something. */
function attemptsOf({ code_changes, attempts }: Round) {
  const numbers = new Set(code_changes.map((change) => attemptOf(change, attempts)?.number))
  return attempts.filter(({ number }) => numbers.has(number))
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

interface FilesProps extends PartProps {
  changes: readonly Change[]
  children: ComponentChildren
}

/** The number of files whose lines are drawn at once; the others are drawn on demand. */
const OPEN_AT_ONCE = 20

function Files({ session, round, changes, children }: FilesProps) {
  const place = usePlace()
  const view = useLayout()
  const viewed = useViewed(session.uuid, round.number)
  const reads = useArtifacts(
    session.uuid,
    changes.map(({ url }) => url),
  )
  const files = useMemo(() => groupByFile(changes), [changes.map(({ id }) => id).join()])
  const readOf = (change: Change) => reads[changes.indexOf(changes.find(({ id }) => id === change.id) as Change)]
  const readsOf = (file: ChangedFile) => file.changes.map(readOf).filter((read) => read !== undefined)
  const results = files.map((file): FileResult | null => resultOf(readsOf(file).map(({ data }) => data)))
  const known = results.filter((result) => result !== null)
  const sum = (side: 'added' | 'removed') => known.reduce((total, result) => total + result[side], 0)
  return (
    <>
      <header class="code-summary">
        <h2>Code</h2>
        <span>{plural(files.length, 'file')}</span>
        {known.length === files.length && <Counts added={sum('added')} removed={sum('removed')} />}
        <Origin by="code" />
        <Tools view={view} viewed={viewed.names.filter((name) => files.some((file) => file.name === name)).length}>
          {children}
        </Tools>
      </header>
      <div class={files.length > 1 ? 'code-files' : ''}>
        {files.length > 1 && <FileList files={files} results={results} viewed={viewed.names} place={place} />}
        <div class="code-cards">
          {files.map((file, index) => (
            <FileCard
              key={file.name}
              name={file.name}
              result={results[index] ?? null}
              error={readsOf(file).find(({ error }) => error)?.error}
              retry={() => readsOf(file).forEach(({ error, refetch }) => void (error && refetch()))}
              layout={view.layout}
              viewed={viewed.names.includes(file.name)}
              onViewed={(is) => viewed.mark(file.name, is)}
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

interface ToolsProps {
  view: ReturnType<typeof useLayout>
  viewed: number
  children: ComponentChildren
}

const LAYOUTS: [Layout, string][] = [
  ['unified', 'Unified'],
  ['split', 'Side by side'],
]

/** Shows the view options of the files. */
export const Tools = ({ view: { layout, wide, choose }, viewed, children }: ToolsProps) => (
  <div class="code-tools">
    {viewed > 0 && <span class="quiet small">{plural(viewed, 'file')} viewed</span>}
    {children}
    {wide && (
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
    )}
  </div>
)
