import { useMutation } from '@tanstack/preact-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { calls } from '../../client/api/calls.ts'
import { ApiError, problemsByField } from '../../client/api/errors.ts'
import { usePlatform } from '../../client/platform.ts'
import { useRefreshSession } from '../../client/sessions/use-session.ts'
import { useMe } from '../../client/use-me.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import { useOpenSession } from '../session/context.ts'
import { type Asked, bodyOf, useAsked } from './asked.ts'
import { ModeChoice } from './mode-choice.tsx'

/** The place at the end of the conversation where the next request is written. */
export function Composer() {
  const { session, is_own } = useOpenSession()
  if (!is_own)
    return (
      <Notice title="This is a session of somebody else">
        You can read it. Only {session.username ?? 'its owner'} can ask further in it.
      </Notice>
    )
  if (session.current_status === 'failed' && !session.in_flight)
    return (
      <Notice
        title="This session takes no further requests"
        actions={
          <Link class="button button-primary" to="/">
            Begin a new session
          </Link>
        }
      >
        Its last round failed, and a failed session stays as it is. What it wrote is on its branch.
      </Notice>
    )
  return <Form />
}

function Form() {
  const { session } = useOpenSession()
  const { data: me } = useMe()
  const { asked, change, clear } = useAsked(session.uuid)
  const send = useSend(asked, clear)
  const refusal = session.in_flight
    ? 'A round runs. You can write already, and send when it has ended.'
    : asked.mode === 'drift' && me?.operation_role !== 'devops'
      ? 'Drift needs the operation role devops; an administrator can give it.'
      : null
  const problems = problemsByField(send.error)
  const isField = problems.q !== undefined
  const submit = (event?: Event) => {
    event?.preventDefault()
    if (refusal === null && !send.isPending) send.mutate()
  }
  return (
    <form class="card rounds-composer" aria-label="Ask further" onSubmit={submit}>
      <Field
        id="ask"
        label="Ask further"
        hint="It builds on what this session has done so far, on the same branch. Ctrl+Enter sends."
        error={problems.q}
      >
        {(control) => (
          <textarea
            {...control}
            rows={3}
            dir="auto"
            value={asked.q}
            placeholder={PLACEHOLDERS[asked.mode]}
            onInput={({ currentTarget }) => change({ q: currentTarget.value })}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event)
            }}
          />
        )}
      </Field>
      <ModeChoice asked={asked} change={change} />
      {send.error && !isField && (
        <ErrorNotice
          error={send.error}
          title={send.error instanceof ApiError ? 'The request was not taken' : 'The request was not sent'}
          retry={() => submit()}
        />
      )}
      <div class="rounds-send">
        <p id="ask-refusal" class="small quiet" role="status">
          {refusal ?? ''}
        </p>
        <Button
          kind="primary"
          type="submit"
          busy={send.isPending}
          aria-disabled={refusal !== null || undefined}
          aria-describedby="ask-refusal"
        >
          {asked.preview && asked.mode !== 'generate' ? 'Look' : 'Ask'}
        </Button>
      </div>
    </form>
  )
}

const PLACEHOLDERS: Record<Asked['mode'], string> = {
  generate: 'Also keep the messages for 30 days.',
  drift: 'Bring everything in line with what really runs.',
  import: 'Import all the infrastructure',
}

/** Sends the request. What was typed is forgotten when the platform has taken it, and not before. */
function useSend(asked: Asked, clear: () => void) {
  const { session } = useOpenSession()
  const { api } = usePlatform()
  const refresh = useRefreshSession()
  const navigate = useNavigate()
  const routes = { generate: calls.generate, drift: calls.drift, import: calls.importResources }
  return useMutation({
    mutationFn: () => routes[asked.mode](api, { body: bodyOf(asked, session.uuid) }),
    onSuccess: async () => {
      clear()
      await refresh(session.uuid)
      // The newest round is the one that opens when the address names none.
      await navigate({ to: '.', search: {} as never, replace: true })
    },
  })
}
