import { useMutation, useQueryClient } from '@tanstack/preact-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'preact/hooks'
import { ApiError, problemsByField, ROUND_CALLS, type RoundBody } from '../../client/api/client.ts'
import { useDraft } from '../../client/drafts.ts'
import { useMe, usePlatform } from '../../client/platform.ts'
import { hasEnded, refreshSession } from '../../client/sessions/use-session.ts'
import { useAnySearch } from '../../client/use-address.ts'
import { Check, Form, TextArea } from '../../ui/controls.tsx'
import { Button, Empty, ErrorNotice, Notice, Term } from '../../ui/kit.tsx'
import { useOpenSession } from '../session/open-session.tsx'
import { type FormInput, inputOf, withoutSecret } from '../start/form.ts'
import { answersOf } from './conversation.ts'
import { RoundEntry } from './round-entry.tsx'

/** Shows the session as a conversation: each round is a request, the work on it, and its result. */
export function Screen() {
  const { session } = useOpenSession()
  const { isOpen, toggle } = useOpenRounds()
  const answers = answersOf(session)
  return (
    <section class="rounds">
      <p class="small quiet">
        A <Term name="session">session</Term> is a conversation; each request in it starts a{' '}
        <Term name="round">round</Term>.
      </p>
      {session.rounds.length === 0 && <Empty title="No round yet">The first request is being accepted.</Empty>}
      <ol class="rounds-list">
        {session.rounds.map((round) => (
          <RoundEntry
            key={round.number}
            round={round}
            answer={answers.get(round.number) ?? null}
            open={isOpen(round.number)}
            onToggle={(open) => toggle(round.number, open)}
          />
        ))}
      </ol>
      <Composer />
    </section>
  )
}

/** Tracks the open rounds: at first the one that the address names, or the newest one, and the running one. */
function useOpenRounds() {
  const { session } = useOpenSession()
  const named = Number(useAnySearch().round)
  const newest = session.rounds.at(-1)
  const [choices, setChoices] = useState<Record<number, boolean>>({})
  useEffect(() => setChoices({}), [session.uuid, named, newest?.number])
  const isNamed = session.rounds.some(({ number }) => number === named)
  const isOpen = (number: number): boolean => {
    const chosen = choices[number]
    if (chosen !== undefined) return chosen
    if (isNamed && number === named) return true
    return number === newest?.number && (!isNamed || !hasEnded(newest))
  }
  return { isOpen, toggle: (number: number, open: boolean) => setChoices((all) => ({ ...all, [number]: open })) }
}

/** Shows the form for the next request, at the end of the conversation. */
function Composer() {
  const { session, is_own } = useOpenSession()
  const start = useDraft<FormInput>('start', {}, withoutSecret)
  if (!is_own)
    return (
      <Notice title="This session belongs to somebody else">
        You can read it. Only {session.username ?? 'its owner'} can continue it.
      </Notice>
    )
  if (session.current_status === 'failed' && !session.in_flight)
    return (
      <Notice
        title="This session accepts no further requests"
        actions={
          <Link class="button button-primary" to="/" onClick={() => start.set(inputOf(session))}>
            Open a new session with this request
          </Link>
        }
      >
        Its last round failed, which ends the session. What was pushed to its branch {session.workspace.branch} stays
        there.
      </Notice>
    )
  return <RequestForm />
}

function RequestForm() {
  const { session } = useOpenSession()
  const { data: me } = useMe()
  const { value: draft, change, clear, set } = useDraft(`ask.${session.uuid}`, EMPTY)
  const { api } = usePlatform()
  const client = useQueryClient()
  const navigate = useNavigate()
  const send = useMutation({
    mutationFn: () => ROUND_CALLS[draft.mode](api, { body: bodyOf(draft, session.uuid) }),
    onSuccess: async () => {
      // The draft is deleted only after the platform has accepted it.
      clear()
      set({ ...EMPTY, mode: draft.mode })
      await refreshSession(client, session.uuid)
      // Without a round in the address, the newest one opens.
      await navigate({ to: '.', search: {}, replace: true })
    },
  })
  const refusal = session.in_flight
    ? 'A round is running. You can write the next request now and send it when the round has ended.'
    : draft.mode === 'drift' && me?.operation_role !== 'devops'
      ? 'Drift needs the operation role devops; an administrator can assign it.'
      : null
  const problems = problemsByField(send.error)
  const isField = problems.q !== undefined
  const submit = () => {
    if (refusal === null && !send.isPending) send.mutate()
  }
  return (
    <Form class="card rounds-composer" aria-label="Next request" send={submit}>
      <TextArea
        id="ask"
        label="Next request"
        hint="It builds on the rounds of this session, on the same branch. Ctrl+Enter sends."
        error={problems.q}
        rows={3}
        value={draft.q}
        placeholder={PLACEHOLDERS[draft.mode]}
        change={(q) => change({ q })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          submit()
        }}
      />
      <ModeChoice draft={draft} change={change} />
      {send.error && !isField && (
        <ErrorNotice
          error={send.error}
          title={send.error instanceof ApiError ? 'The request was not accepted' : 'The request was not sent'}
          retry={submit}
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
          {draft.preview && draft.mode !== 'generate' ? 'Preview' : 'Send'}
        </Button>
      </div>
    </Form>
  )
}

const PLACEHOLDERS: Record<RequestDraft['mode'], string> = {
  generate: 'Also keep the messages for 30 days.',
  drift: 'Bring everything in line with what really runs.',
  import: 'Import all the infrastructure',
}

const EMPTY = { mode: 'generate' as keyof typeof ROUND_CALLS, q: '', preview: false, is_partial: false }
type RequestDraft = typeof EMPTY

/** Returns the body of the request. Generate has neither preview nor part; an import preview lists everything. */
function bodyOf({ mode, q, preview, is_partial }: RequestDraft, sessionId: string): RoundBody {
  const body = { session_id: sessionId, q }
  if (mode === 'generate') return body
  return { ...body, preview, is_partial: is_partial && !(mode === 'import' && preview) }
}

const MODES: [RequestDraft['mode'], string, string][] = [
  ['generate', 'Change', 'writes code for the request, and plans it'],
  ['drift', 'Drift', 'finds differences from the cloud'],
  ['import', 'Import', 'adopts existing resources into the code'],
]

const Meaning = ({ name, children }: { name: string; children: string }) => (
  <span>
    <b>{name}</b> <span class="quiet">{children}</span>
  </span>
)

/** Shows the mode and its options. */
function ModeChoice({ draft, change }: { draft: RequestDraft; change: (part: Partial<RequestDraft>) => void }) {
  return (
    <div class="rounds-modes small">
      <fieldset>
        <legend class="unseen">Kind of round</legend>
        {MODES.map(([mode, name, meaning]) => (
          <label key={mode} class="rounds-choice">
            <input
              type="radio"
              name="ask-mode"
              value={mode}
              checked={draft.mode === mode}
              onChange={() => change({ mode })}
            />
            <Meaning name={name}>{meaning}</Meaning>
          </label>
        ))}
      </fieldset>
      {draft.mode !== 'generate' && (
        <fieldset>
          <legend class="unseen">Extent of the round</legend>
          <Check class="rounds-choice" checked={draft.preview} onCheck={(preview) => change({ preview })}>
            <Meaning name="Preview only">nothing is changed, and the saved plan stays valid</Meaning>
          </Check>
          {draft.mode === 'import' && draft.preview ? (
            <p class="quiet">
              It lists the whole <Term name="scope">scope</Term>, regardless of the text.
            </p>
          ) : (
            <Check class="rounds-choice" checked={draft.is_partial} onCheck={(is_partial) => change({ is_partial })}>
              <Meaning name="Only what the text names">otherwise everything in the folder</Meaning>
            </Check>
          )}
        </fieldset>
      )}
    </div>
  )
}
