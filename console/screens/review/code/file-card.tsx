import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Badge, type Tone } from '../../../ui/badge.tsx'
import { Button, Copy } from '../../../ui/button.tsx'
import type { LineLinks } from '../../../ui/code/code-table.tsx'
import { CodeFile, RowsDiff } from '../../../ui/code/code-view.tsx'
import { Check } from '../../../ui/controls.tsx'
import { keepInSight } from '../../../ui/keep-in-sight.ts'
import { ErrorNotice, Skeleton } from '../../../ui/notice.tsx'
import { excerpt, formatNumber, visibleText } from '../../../ui/words.ts'
import type { ChangedFile, FileResult } from './changes.ts'
import type { Layout, usePlace } from './view-state.ts'

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
export function FileCard({ name, result, error, retry, viewed, onViewed, wanted, startsOpen, ...view }: FileCardProps) {
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
  if (result.state === 'same') return <p class="code-none-left">The file did not change in the end.</p>
  if (result.rows.length === 0) return <p class="code-none-left">There are no lines to show.</p>
  if (result.text !== null) return <CodeFile text={result.text} name={name} links={links} />
  return <RowsDiff rows={result.rows} name={name} layout={layout} links={links} />
}

const STATES: Record<FileResult['state'], [word: string, tone: Tone]> = {
  new: ['new file', 'good'],
  changed: ['', 'neutral'],
  deleted: ['deleted', 'bad'],
  same: ['unchanged', 'neutral'],
}

/** Shows `+12 −3`, without a side that has no lines. */
export const Counts = ({ added, removed }: { added: number; removed: number }) => (
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
export function FileList({ files, viewed, place }: FileListProps) {
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
