import { useRef, useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import { useDraft } from '../../client/drafts.ts'
import { usePlatform } from '../../client/platform.ts'
import { useRecentSessions } from '../../client/sessions/use-session.ts'
import { useAnySearch } from '../../client/use-address.ts'
import { useMe } from '../../client/use-me.ts'
import { Button, Copy } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import { repositoryName, shorten, visibleText } from '../../ui/words.ts'
import { findFaults, type Question as Message, readFailure, SEVERITIES, toMessage } from './question-message.ts'

type Outcome = { kind: 'sent'; delivery: string } | { kind: 'disabled' } | { kind: 'other'; error: unknown } | null

/** Shows the form for a question to all users with the panel role editor. `?session=<id>` preselects the session. */
export function Question() {
  const { session } = useAnySearch()
  const about = typeof session === 'string' ? session : ''
  const { value, change, clear } = useDraft<Message>('question', EMPTY)
  const question = { ...value, session_id: value.session_id ?? about }
  const { send, sending, faults, outcome } = useSending(question, clear)
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
          void send()
        }}
      >
        <QuestionFields question={question} change={change} faults={faults} />
        <div role="status">{outcome && <SendResult outcome={outcome} question={question} />}</div>
        <p>
          <Button kind="primary" type="submit" busy={sending}>
            {sending ? 'Sending' : 'Send question'}
          </Button>
        </p>
      </form>
    </section>
  )
}

const EMPTY: Message = { subject: '', body: '', severity: 'info', session_id: null }

function useSending(question: Message, clear: () => void) {
  const { api } = usePlatform()
  const me = useMe().data
  const from = me?.email ?? me?.display_name ?? null
  const [sending, setSending] = useState(false)
  const [faults, setFaults] = useState<Record<string, string>>({})
  const [outcome, setOutcome] = useState<Outcome>(null)
  const lock = useRef(false)
  const refuse = (found: Record<string, string>) => {
    setFaults(found)
    const [first] = Object.keys(found)
    if (first) document.getElementById(`help-${first}`)?.focus()
    return first !== undefined
  }
  const send = async () => {
    if (lock.current) return
    setOutcome(null)
    if (refuse(findFaults(question))) return
    lock.current = true
    setSending(true)
    try {
      const { delivery_id } = await calls.notify(api, { body: toMessage(question, { origin: location.origin, from }) })
      clear()
      setOutcome({ kind: 'sent', delivery: delivery_id })
    } catch (error) {
      const { faults: found, kind } = readFailure(error)
      refuse(found)
      if (kind !== 'fields') setOutcome(kind === 'disabled' ? { kind } : { kind, error })
    } finally {
      lock.current = false
      setSending(false)
    }
  }
  return { send, sending, faults, outcome }
}

function SendResult({ outcome, question }: { outcome: NonNullable<Outcome>; question: Message }) {
  if (outcome.kind === 'sent')
    return (
      <Notice tone="good" title="Your question was sent">
        You will be answered outside the console. Delivery <code>{outcome.delivery}</code>.
      </Notice>
    )
  if (outcome.kind === 'disabled')
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
  return <ErrorNotice error={outcome.error} title="Your question was not sent. It is kept here." />
}

interface QuestionFieldsProps {
  question: Message
  change: (part: Partial<Message>) => void
  faults: Record<string, string>
}

export function QuestionFields({ question, change, faults }: QuestionFieldsProps) {
  return (
    <>
      <Field id="help-subject" label="Subject" error={faults.subject}>
        {(control) => (
          <input
            {...control}
            dir="auto"
            aria-required
            placeholder="Why was my session locked?"
            value={question.subject}
            onInput={({ currentTarget }) => change({ subject: currentTarget.value })}
          />
        )}
      </Field>
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
        <Field id="help-severity" label="Urgency" error={faults.severity}>
          {(control) => (
            <select
              {...control}
              value={question.severity}
              onChange={({ currentTarget }) => change({ severity: currentTarget.value as Message['severity'] })}
            >
              {SEVERITIES.map(([severity, name]) => (
                <option key={severity} value={severity}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <About question={question} change={change} />
      </div>
    </>
  )
}

const LONGEST_NAME = 60
const OFFERED = 20

function About({ question, change }: Pick<QuestionFieldsProps, 'question' | 'change'>) {
  const sessions = useRecentSessions().data?.slice(0, OFFERED) ?? []
  const isListed = sessions.some(({ uuid }) => uuid === question.session_id)
  return (
    <Field id="help-session" label="Session" optional hint="The question includes a link to it.">
      {(control) => (
        <select
          {...control}
          value={question.session_id ?? ''}
          onChange={({ currentTarget }) => change({ session_id: currentTarget.value })}
        >
          <option value="">None</option>
          {question.session_id && !isListed && (
            <option value={question.session_id}>{shorten(visibleText(question.session_id), LONGEST_NAME)}</option>
          )}
          {sessions.map(({ uuid, first_query, workspace }) => (
            <option key={uuid} value={uuid}>
              {shorten(visibleText(first_query ?? 'Session'), LONGEST_NAME)} (
              {visibleText(repositoryName(workspace.uri))})
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
