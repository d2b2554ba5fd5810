import { useId } from 'preact/hooks'
import { problemsByField } from '../../client/api/errors.ts'
import type { RoundRequest, useRoundRequest } from '../../client/sessions/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'

type Request = ReturnType<typeof useRoundRequest>

interface SentenceFormProps {
  request: Request
  label: string
  hint: string
  /** The label of the button. */
  action: string
  class: string
  sentence: string
  change: (sentence: string) => void
  ask: (sentence: string) => void
}

/** Shows a form that limits a round to what a sentence names. */
export function SentenceForm({ request, label, hint, action, sentence, change, ask, ...rest }: SentenceFormProps) {
  const id = useId().replaceAll(':', '')
  const q = sentence.trim()
  const busy = isAsking(request, 'named')
  const submit = (event: Event) => {
    event.preventDefault()
    if (q !== '') ask(q)
  }
  return (
    <form {...rest} onSubmit={submit}>
      <Field id={id} label={label} hint={hint} error={problemsByField(request.error).q}>
        {(control) => (
          <textarea
            {...control}
            rows={2}
            dir="auto"
            value={sentence}
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
        )}
      </Field>
      <Button type="submit" busy={busy} disabled={q === '' && !busy}>
        {action}
      </Button>
    </form>
  )
}

/** True while the request of the button of this kind is pending. */
export const isAsking = (request: Request, kind: string): boolean =>
  request.isPending && request.variables.kind === kind

/** Shows the notice for a round that was not accepted or did not start. */
export function RequestFailure({ request, ask }: { request: Request; ask: (round: RoundRequest) => void }) {
  if (request.error)
    return (
      <ErrorNotice
        error={request.error}
        title="The round was not accepted"
        retry={() => request.variables && ask(request.variables)}
      />
    )
  if (!request.isSuccess || request.data !== null) return null
  return <Notice tone="warn">No round was started, because another one is running. Try again when it has ended.</Notice>
}
