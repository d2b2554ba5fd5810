import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Round } from '../../../client/api/client.ts'
import { hasEnded } from '../../../client/sessions/use-session.ts'
import { readStored, writeStored } from '../../../client/stored.ts'
import { type AnySearch, useAnySearch, useSearchChange } from '../../../client/use-address.ts'
import { CodeFile, CodeRows, type LineLinks } from '../../../ui/code/code-view.tsx'
import { Check } from '../../../ui/controls.tsx'
import { keepInSight } from '../../../ui/keep-in-sight.ts'
import { Badge, Button, Copy, Empty, ErrorNotice, Origin, Skeleton, type Tone } from '../../../ui/kit.tsx'
import { useMedia } from '../../../ui/use-media.ts'
import { excerpt, formatNumber, plural, visibleText } from '../../../ui/words.ts'
import { useOpenSession } from '../../session/open-session.tsx'
import { type ChangedFile, type FileResult, useChangedFiles } from './changes.ts'

/** Shows the code changes of a round, file by file. */
export function CodePart({ round }: { round: Round }) {
  return (
    <section class="code-part" aria-label="Code">
      {round.code_changes.length === 0 ? <NoCode round={round} /> : <Files key={round.id} round={round} />}
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

/** The number of files whose lines are drawn at once; the others are drawn on demand. */
const OPEN_AT_ONCE = 20

function Files({ round }: { round: Round }) {
  const { session } = useOpenSession()
  const place = usePlace()
  const view = useLayout()
  const { names, mark } = useViewed(session.uuid, round.number)
  const files = useChangedFiles(session.uuid, round.code_changes)
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

interface FileCardProps extends ChangedFile {
  layout: Layout
  viewed: boolean
  onViewed: (viewed: boolean) => void
  links: LineLinks
  /** True if the address names this file. */
  wanted: boolean
  /** True if the file is drawn at once; large files far down are drawn on demand. */
  startsOpen: boolean
}

/** Shows one changed file: its path, its counts, and its lines. */
function FileCard({ name, result, error, retry, viewed, onViewed, wanted, startsOpen, ...view }: FileCardProps) {
  const card = useRef<HTMLElement>(null)
  const id = useId().replaceAll(':', '')
  const [toggled, setToggled] = useState<boolean | null>(null)
  const open = toggled ?? ((wanted || startsOpen) && !viewed)
  const { selected } = view.links
  useEffect(() => {
    return wanted && selected === null && result && card.current ? keepInSight(card.current, 'start') : undefined
  }, [wanted, result !== null])
  const shown = visibleText(name)
  return (
    <article ref={card} class="card code-card" aria-labelledby={`${id}-name`}>
      <header class="code-head">
        <Button
          kind="quiet"
          small
          aria-expanded={open}
          aria-controls={`${id}-body`}
          aria-label={`Lines of ${shown}`}
          onClick={() => setToggled(!open)}
        >
          <span aria-hidden="true">{open ? '▾' : '▸'}</span>
        </Button>
        <h3 class="mono" id={`${id}-name`}>
          {shown}
        </h3>
        {result && result.state !== 'changed' && (
          <Badge tone={STATES[result.state][1]}>{STATES[result.state][0]}</Badge>
        )}
        {result && <Counts {...result} />}
        <span class="code-tools">
          <Copy text={name} label="Copy path" />
          <Check
            class="code-viewed"
            checked={viewed}
            onCheck={(checked) => {
              setToggled(null)
              onViewed(checked)
            }}
          >
            Viewed
          </Check>
        </span>
      </header>
      <div id={`${id}-body`} hidden={!open}>
        {open && <Body name={name} result={result} error={error} retry={retry} {...view} />}
      </div>
    </article>
  )
}

type BodyProps = Pick<FileCardProps, 'name' | 'result' | 'error' | 'retry' | 'layout' | 'links'>

function Body({ name, result, error, retry, layout, links }: BodyProps) {
  if (error) return <ErrorNotice error={error} title="This file could not be read." retry={retry} />
  if (!result) return <Skeleton lines={6} label={`Loading ${visibleText(name)}`} />
  if (result.raw !== null) return <pre class="code-raw">{excerpt(result.raw, 2_000)}</pre>
  if (result.rows.length === 0) return <p class="code-none-left">There are no lines to show.</p>
  if (result.text !== null) return <CodeFile text={result.text} name={name} links={links} />
  return <CodeRows rows={result.rows} name={name} layout={layout} links={links} />
}

const STATES: Record<FileResult['state'], [word: string, tone: Tone]> = {
  new: ['new file', 'good'],
  changed: ['', 'neutral'],
  deleted: ['deleted', 'bad'],
}

/** Shows `+12 −3`, without a side that has no lines. */
const Counts = ({ added, removed }: { added: number; removed: number }) => (
  <span class="code-counts number small">
    {added > 0 && (
      <span class="code-plus">
        +{formatNumber(added)}
        <span class="unseen"> lines added</span>
      </span>
    )}{' '}
    {removed > 0 && (
      <span class="code-minus">
        −{formatNumber(removed)}
        <span class="unseen"> lines removed</span>
      </span>
    )}
  </span>
)

interface FileListProps {
  files: readonly ChangedFile[]
  viewed: readonly string[]
  place: ReturnType<typeof usePlace>
}

/** Shows the changed files by folder, each a link to its lines. */
function FileList({ files, viewed, place }: FileListProps) {
  const folderOf = (name: string) => name.slice(0, name.lastIndexOf('/') + 1)
  return (
    <nav class="code-list" aria-label="Changed files">
      <ul>
        {files.map(({ name, result }, index) => {
          const folder = folderOf(name)
          return (
            <li key={name}>
              {folder && folder !== folderOf(files[index - 1]?.name ?? '') && (
                <span class="code-folder mono small">{visibleText(folder)}</span>
              )}
              <a
                href={place.href(name)}
                class="code-link"
                aria-current={place.file === name ? 'true' : undefined}
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return
                  event.preventDefault()
                  place.go({ file: name })
                }}
              >
                <span class="mono">{visibleText(name.slice(folder.length))}</span>
                {viewed.includes(name) && <span class="quiet small">viewed</span>}
                {result && <Counts {...result} />}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

/** Returns the place in the code that the address names: `?part=code&file=main.tf&line=12`. */
function usePlace() {
  const { file, line, round } = useAnySearch()
  const change = useSearchChange()
  const number = (value: unknown) => (Number.isInteger(Number(value)) && Number(value) > 0 ? Number(value) : null)
  const go = (place: Pick<AnySearch, 'file' | 'line'>) => change({ file: undefined, line: undefined, ...place })
  const href = (name: string, line?: number) => {
    const query = new URLSearchParams({ part: 'code', file: name })
    if (round !== undefined) query.set('round', String(round))
    if (line !== undefined) query.set('line', String(line))
    return `?${query}`
  }
  return {
    file: file === undefined ? null : String(file),
    line: number(line),
    go,
    href,
  }
}

type Layout = 'unified' | 'split'

const KEY = 'platform.code-layout'
/** The minimum width for two versions side by side. */
const WIDE = '(min-width: 70rem)'

/** Returns the layout of diffs in this browser. A narrow screen always shows one version below the other. */
function useLayout() {
  const [chosen, setChosen] = useState<Layout>(() => (readStored(localStorage, KEY) === 'split' ? 'split' : 'unified'))
  const wide = useMedia(WIDE)
  const choose = (layout: Layout) => {
    setChosen(layout)
    writeStored(localStorage, KEY, layout)
  }
  return { layout: wide ? chosen : 'unified', wide, choose } as const
}

/** Returns the names of the viewed files of a round, stored for this tab. */
function useViewed(sessionId: string, round: number) {
  const key = `platform.viewed.${sessionId}.${round}`
  const [all, setAll] = useState<Record<string, readonly string[]>>({})
  const stored = readStored(sessionStorage, key)
  const names = all[key] ?? (Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : [])
  const mark = (name: string, viewed: boolean) => {
    const kept = viewed ? [...new Set([...names, name])] : names.filter((other) => other !== name)
    setAll((before) => ({ ...before, [key]: kept }))
    writeStored(sessionStorage, key, kept)
  }
  return { names, mark }
}
