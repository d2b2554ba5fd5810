import { useEffect, useRef, useState } from 'preact/hooks'
import { type Example, useMe, usePlatform } from '../../client/platform.ts'
import { Field } from '../../ui/field.tsx'
import { Button } from '../../ui/kit.tsx'
import { repositoryName, visibleText } from '../../ui/words.ts'
import { type Fields, type FormInput, idOf, toInput } from './form.ts'
import { MODES, modeOf, modeOfExample } from './modes.ts'

interface SentenceProps {
  fields: Fields
  change: (input: FormInput) => void
  error: string | undefined
}

const KEY = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'

/** Shows the field for the request in plain words. */
export function Sentence({ fields, change, error }: SentenceProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const { fallback, operation } = modeOf(fields.mode)
  useEffect(() => {
    // On touch screens, the focus would open a keyboard that covers half of the page.
    if (matchMedia('(pointer: fine)').matches) area.current?.focus({ preventScroll: true })
  }, [])
  return (
    <Field
      id={idOf('q')}
      label="Your request"
      optional={fallback !== null}
      error={error}
      hint={
        <>
          <kbd>Enter</kbd> begins a new line, <kbd>{KEY}</kbd> <kbd>Enter</kbd> sends. In the fields below{' '}
          <kbd>Enter</kbd> sends.
        </>
      }
    >
      {(control) => (
        <textarea
          {...control}
          ref={area}
          class="start-sentence"
          dir="auto"
          rows={3}
          aria-required={fallback === null}
          value={fields.q}
          placeholder={
            fallback ?? (operation === 'generate' ? 'Add a private bucket for build logs.' : 'The log buckets.')
          }
          onInput={({ currentTarget }) => change({ q: currentTarget.value })}
        />
      )}
    </Field>
  )
}

interface ExamplesProps {
  input: FormInput
  set: (input: FormInput) => void
}

/** Shows requests that the operator suggests: one click fills in the whole form, and another restores it. */
export function Examples({ input, set }: ExamplesProps) {
  const { examples } = usePlatform().config
  const me = useMe()
  const list = useRef<HTMLElement>(null)
  const [before, setBefore] = useState<FormInput | null>(null)
  const [filled, setFilled] = useState('')
  if (examples.length === 0) return null
  const choose = (example: Example) => {
    const isOwn = (input.q ?? '').trim() !== '' && input.q !== filled
    if (isOwn) setBefore(input)
    setFilled(example.text)
    set(toInput(example))
    list.current?.hidePopover()
    document.getElementById(idOf('q'))?.focus()
  }
  const undo = () => {
    if (before) set(before)
    setBefore(null)
  }
  return (
    <div class="start-examples">
      {before && (
        <Button kind="quiet" small onClick={undo}>
          Restore my text
        </Button>
      )}
      <Button small popovertarget="start-examples">
        Examples
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
