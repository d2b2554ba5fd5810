import { visibleText } from '../../../ui/words/text.ts'
import type { ChangedFile, FileResult } from './changes.ts'
import { Counts } from './file-card.tsx'
import type { usePlace } from './use-place.ts'

interface FileListProps {
  files: readonly ChangedFile[]
  results: readonly (FileResult | null)[]
  viewed: readonly string[]
  place: ReturnType<typeof usePlace>
}

/** The changed files by their folders, each a link to its lines. */
export function FileList({ files, results, viewed, place }: FileListProps) {
  return (
    <nav class="code-list" aria-label="Changed files">
      <ul>
        {files.map(({ name }, index) => {
          const cut = name.lastIndexOf('/') + 1
          const folder = name.slice(0, cut)
          const before = files[index - 1]?.name
          const isNext = before !== undefined && before.slice(0, before.lastIndexOf('/') + 1) === folder
          const result = results[index]
          return (
            <li key={name}>
              {folder && !isNext && <span class="code-folder mono small">{visibleText(folder)}</span>}
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
                <span class="mono">{visibleText(name.slice(cut))}</span>
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
