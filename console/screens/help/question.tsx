import { useMutation, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import { useDraft } from '../../client/drafts.ts'
import { usePlatform } from '../../client/platform.ts'
import { useRecentSessions } from '../../client/sessions/use-session.ts'
import { useAnySearch } from '../../client/use-address.ts'
import { useMe } from '../../client/use-me.ts'
import { Button, Copy } from '../../ui/button.tsx'
import { Field, type Options, SelectField, TextField } from '../../ui/field.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import { repositoryName, shorten, visibleText } from '../../ui/words.ts'
import { findFaults, type Question as Message, readFailure, SEVERITIES, toMessage } from './question-message.ts'

/** Shows the form for a question to all users with the panel role editor. `?session=<id>` preselects the session. */
export function Question() {
  const { session } = useAnySearch()
  const about = typeof session === 'string' ? session : ''
  const { value, change, clear } = useDraft<Message>('question', EMPTY)
  const question = { ...value, session_id: value.session_id ?? about }
  const { send, message, faults } = useSending(question, clear)
  return (
    <section class="card help-part" aria-labelledby="help-ask">
      <h2 id="help-ask">Contact an administrator</h2>
      <p class="quiet">
        Your question is sent to all users with at least the panel role editor, and to you. It includes your e-mail
        address.
      </p>
      <form
        class="help-form"
        noValidate
        aria-labelledby="help-ask"
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <TextField
          id="help-subject"
          label="Subject"
          error={faults.subject}
          dir="auto"
          aria-required
          placeholder="Why was my session locked?"
          value={question.subject}
          change={(subject) => change({ subject })}
        />
        <Field id="help-body" label="Your question" error={faults.body} hint="Do not include passwords or keys.">
          {(control) => (
            <textarea
              {...control}
              dir="auto"
              rows={5}
              aria-required
              value={question.body}
              onInput={({ currentTarget }) => change({ body: currentTarget.value })}
            />
          )}
        </Field>
        <div class="help-pair">
          <SelectField
            id="help-severity"
            label="Urgency"
            error={faults.severity}
            options={SEVERITIES}
            value={question.severity}
            change={(severity) => change({ severity: severity as Message['severity'] })}
          />
          <About session_id={question.session_id} change={change} />
        </div>
        <div role="status">
          <Outcome message={message} question={question} />
        </div>
        <p>
          <Button kind="primary" type="submit" busy={message.isPending}>
            {message.isPending ? 'Sending' : 'Send question'}
          </Button>
        </p>
      </form>
    </section>
  )
}

const EMPTY: Message = { subject: '', body: '', severity: 'info', session_id: null }
const KEY = ['question']

function useSending(question: Message, clear: () => void) {
  const { api } = usePlatform()
  const client = useQueryClient()
  const me = useMe().data
  const from = me?.email ?? me?.display_name ?? null
  const [faults, setFaults] = useState<Record<string, string>>({})
  const refuse = (found: Record<string, string>) => {
    setFaults(found)
    const [first] = Object.keys(found)
    if (first) document.getElementById(`help-${first}`)?.focus()
    return first !== undefined
  }
  const message = useMutation({
    mutationKey: KEY,
    mutationFn: () => calls.notify(api, { body: toMessage(question, { origin: location.origin, from }) }),
    onSuccess: clear,
    onError: (error) => refuse(readFailure(error).faults),
  })
  const send = () => {
    // The state of the mutation changes only with the next drawing.
    if (client.isMutating({ mutationKey: KEY }) > 0) return
    message.reset()
    if (!refuse(findFaults(question))) message.mutate()
  }
  return { send, message, faults }
}

interface OutcomeProps {
  message: Pick<ReturnType<typeof useSending>['message'], 'data' | 'error'>
  question: Message
}

function Outcome({ message: { data, error }, question }: OutcomeProps) {
  if (data)
    return (
      <Notice tone="good" title="Your question was sent">
        You will be answered outside the console. Delivery <code>{data.delivery_id}</code>.
      </Notice>
    )
  const kind = error && readFailure(error).kind
  if (kind === 'disabled')
    return (
      <Notice
        tone="warn"
        title="Messages are disabled"
        actions={<Copy text={`${question.subject}\n\n${question.body}`} label="Copy the question" />}
      >
        The operator has not configured the service that delivers them. Copy your question and contact an administrator
        in another way. It is kept here.
      </Notice>
    )
  return kind === 'other' && <ErrorNotice error={error} title="Your question was not sent. It is kept here." />
}

const LONGEST_NAME = 60
const OFFERED = 20

interface AboutProps {
  session_id: string | null
  change: (part: Partial<Message>) => void
}

function About({ session_id, change }: AboutProps) {
  const sessions = useRecentSessions().data?.slice(0, OFFERED) ?? []
  const isListed = !session_id || sessions.some(({ uuid }) => uuid === session_id)
  const cut = (text: string) => shorten(visibleText(text), LONGEST_NAME)
  const options: Options = [
    ['', 'None'],
    ...(isListed ? [] : [[session_id, cut(session_id)] as const]),
    ...sessions.map(
      ({ uuid, first_query, workspace }) =>
        [uuid, `${cut(first_query ?? 'Session')} (${visibleText(repositoryName(workspace.uri))})`] as const,
    ),
  ]
  return (
    <SelectField
      id="help-session"
      label="Session"
      optional
      hint="The question includes a link to it."
      options={options}
      value={session_id ?? ''}
      change={(id) => change({ session_id: id })}
    />
  )
}
