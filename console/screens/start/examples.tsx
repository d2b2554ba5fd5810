import { useRef } from 'preact/hooks'
import { type Example, usePlatform } from '../../client/platform.ts'
import { useMe } from '../../client/use-me.ts'
import { Button } from '../../ui/button.tsx'
import { repositoryName, visibleText } from '../../ui/words.ts'
import { MODES, modeOfExample } from './modes.ts'
import { idOf } from './use-request.ts'

interface ExamplesProps {
  fill: (example: Example) => void
  /** Brings back what stood in the form before an example replaced it; null where nothing did. */
  undo: (() => void) | null
}

/** Requests that the operator offers: one click fills in the whole form. */
export function Examples({ fill, undo }: ExamplesProps) {
  const { examples } = usePlatform().config
  const me = useMe()
  const list = useRef<HTMLElement>(null)
  if (examples.length === 0) return null
  const choose = (example: Example) => {
    fill(example)
    list.current?.hidePopover()
    document.getElementById(idOf('q'))?.focus()
  }
  return (
    <div class="start-examples">
      {undo && (
        <Button kind="quiet" small onClick={undo}>
          Put my text back
        </Button>
      )}
      <Button small popovertarget="start-examples">
        Examples that work here
      </Button>
      <section ref={list} id="start-examples" popover="auto" class="start-list" aria-label="Examples">
        {examples.map((example) => {
          const { operation, title } = modeOfExample(example)
          const isLocked = operation === 'drift' && me.data?.operation_role === 'developer'
          return (
            <button
              key={`${example.mode} ${example.text}`}
              type="button"
              class="start-example"
              disabled={isLocked}
              onClick={() => choose(example)}
            >
              <span dir="auto">{visibleText(example.text)}</span>{' '}
              <span class="small quiet">
                {modeOfExample(example) === MODES[0] ? '' : `${operation}: `}
                {title} · {visibleText(repositoryName(example.repo_uri))}
                {isLocked && ' · needs the operation role devops'}
              </span>
            </button>
          )
        })}
      </section>
    </div>
  )
}
