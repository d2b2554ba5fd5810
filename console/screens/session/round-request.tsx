import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { problemsByField } from '../../client/api/client.ts'
import type { RoundRequest, useRoundRequest } from '../../client/sessions/use-session.ts'
import { Form, TextArea } from '../../ui/controls.tsx'
import { Button, ErrorNotice, Notice } from '../../ui/kit.tsx'

/** The last request of a round from this screen, and the function for the next one. */
interface Requests {
  request: ReturnType<typeof useRoundRequest>
  ask: (round: RoundRequest) => unknown
}

interface RoundButtonProps extends Requests {
  round: RoundRequest
  primary?: boolean
  children: ComponentChildren
}

const isAsking = ({ isPending, variables }: Requests['request'], kind: string): boolean =>
  isPending && variables.kind === kind

/** Shows a button that requests a round, and is busy while that is pending. */
export const RoundButton = ({ request, ask, round, primary, children }: RoundButtonProps) => (
  <Button kind={primary ? 'primary' : 'plain'} busy={isAsking(request, round.kind)} onClick={() => ask(round)}>
    {children}
  </Button>
)

interface SentenceProps extends Requests {
  mode: RoundRequest['mode']
  label: string
  hint: string
  /** The label of the button. */
  action: string
  class: string
  sentence: string
  change: (sentence: string) => void
}

/** Shows a form that limits a round to what a sentence names. */
export function SentenceForm({ request, ask, mode, label, hint, action, sentence, change, ...rest }: SentenceProps) {
  const id = useId().replaceAll(':', '')
  const q = sentence.trim()
  const busy = isAsking(request, 'named')
  return (
    <Form {...rest} send={() => q !== '' && ask({ mode, kind: 'named', is_partial: true, q })}>
      <TextArea {...{ id, label, hint, change }} value={sentence} error={problemsByField(request.error).q} rows={2} />
      <Button type="submit" busy={busy} disabled={q === '' && !busy}>
        {action}
      </Button>
    </Form>
  )
}

/** Shows the notice for a round that was not accepted or did not start. */
export function RequestFailure({ request, ask }: Requests) {
  const { error, variables } = request
  if (error)
    return <ErrorNotice error={error} title="The round was not accepted" retry={() => variables && ask(variables)} />
  if (!request.isSuccess || request.data !== null) return null
  return <Notice tone="warn">No round was started, because another one is running. Try again when it has ended.</Notice>
}
