import { useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import { useDraft } from '../../client/drafts.ts'
import { usePlatform } from '../../client/platform.ts'
import { useMe } from '../../client/use-me.ts'
import { Button, Copy } from '../../ui/button.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import { QuestionFields } from './question-fields.tsx'
import { findFaults, type Question as Message, readFailure, toMessage } from './question-message.ts'

type Outcome = { kind: 'sent'; delivery: string } | { kind: 'disabled' } | { kind: 'other'; error: unknown } | null

/** A question to everybody who has panel role editor or higher. `?session=<id>` says what it is about. */
export function Question() {
  const { session } = useSearch({ strict: false }) as { session?: unknown }
  const about = typeof session === 'string' ? session : ''
  const { value, change, clear } = useDraft<Message>('question', EMPTY)
  const question = { ...value, session_id: value.session_id ?? about }
  const { send, sending, faults, outcome } = useSending(question, clear)
  return (
    <section class="card help-part" aria-labelledby="help-ask">
      <h2 id="help-ask">Ask the people in charge</h2>
      <p class="quiet">
        Your question goes to everybody who has at least the panel role editor, and to you. Your e-mail goes with it.
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
        <div role="status">{outcome && <Told outcome={outcome} question={question} />}</div>
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

function Told({ outcome, question }: { outcome: NonNullable<Outcome>; question: Message }) {
  if (outcome.kind === 'sent')
    return (
      <Notice tone="good" title="Your question is on its way">
        The answer comes to you outside of the console. Delivery <code>{outcome.delivery}</code>.
      </Notice>
    )
  if (outcome.kind === 'disabled')
    return (
      <Notice
        tone="warn"
        title="Messages are switched off here"
        actions={<Copy text={`${question.subject}\n\n${question.body}`} label="Copy the question" />}
      >
        The operator of this platform has not set up the service that delivers them. Copy your question and ask an
        administrator the way you usually do. It is kept here.
      </Notice>
    )
  return <ErrorNotice error={outcome.error} title="Your question was not sent. It is kept here." />
}
