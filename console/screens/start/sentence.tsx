import { useEffect, useRef } from 'preact/hooks'
import { Field } from '../../ui/field.tsx'
import type { Fields, Typed } from './form.ts'
import { modeOf } from './modes.ts'
import { idOf } from './use-request.ts'

interface SentenceProps {
  fields: Fields
  change: (typed: Typed) => void
  error: string | undefined
}

const KEY = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'

/** The request in plain words. */
export function Sentence({ fields, change, error }: SentenceProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const { fallback, operation } = modeOf(fields.mode)
  useEffect(() => {
    // Where there is no keyboard, the focus would only bring up one that covers half of the page.
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
