import { useMutation } from '@tanstack/preact-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { calls } from '../../client/api/calls.ts'
import { ApiError, problemsByField } from '../../client/api/errors.ts'
import type { RoundBody } from '../../client/api/schemas.ts'
import { useDraft } from '../../client/drafts.ts'
import { usePlatform } from '../../client/platform.ts'
import { useRefreshSession } from '../../client/sessions/use-session.ts'
import { useMe } from '../../client/use-me.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import { Term } from '../../ui/term.tsx'
import { useOpenSession } from '../session/session-context.ts'

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
  const { value: asked, change, clear, set } = useDraft(`ask.${session.uuid}`, NOTHING)
  const send = useSend(asked, () => {
    clear()
    set({ ...NOTHING, mode: asked.mode })
  })
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
      await navigate({ to: '.', search: {}, replace: true })
    },
  })
}

/** What somebody is about to ask. */
export interface Asked {
  mode: 'generate' | 'drift' | 'import'
  q: string
  preview: boolean
  is_partial: boolean
}

const NOTHING: Asked = { mode: 'generate', q: '', preview: false, is_partial: false }

/** The body of the request. A generate request has neither a preview nor a part. An import preview lists everything. */
export function bodyOf({ mode, q, preview, is_partial }: Asked, sessionId: string): RoundBody {
  const body = { session_id: sessionId, q }
  if (mode === 'generate') return body
  return { ...body, preview, is_partial: is_partial && !(mode === 'import' && preview) }
}

interface ChoiceProps {
  asked: Asked
  change: (part: Partial<Asked>) => void
}

const MODES: [Asked['mode'], string, string][] = [
  ['generate', 'Change', 'writes code for what you ask, and plans it'],
  ['drift', 'Drift', 'finds what differs from the cloud'],
  ['import', 'Import', 'takes what exists already into the code'],
]

/** Which kind of round: what it does, and whether it only looks. */
export function ModeChoice({ asked, change }: ChoiceProps) {
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
              checked={asked.mode === mode}
              onChange={() => change({ mode })}
            />
            <span>
              <b>{name}</b> <span class="quiet">{meaning}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {asked.mode !== 'generate' && <Further asked={asked} change={change} />}
    </div>
  )
}

function Further({ asked, change }: ChoiceProps) {
  const listsAll = asked.mode === 'import' && asked.preview
  return (
    <fieldset>
      <legend class="unseen">How far it goes</legend>
      <label class="rounds-choice">
        <input
          type="checkbox"
          checked={asked.preview}
          onChange={({ currentTarget }) => change({ preview: currentTarget.checked })}
        />
        <span>
          <b>Only look</b> <span class="quiet">nothing is changed, and the sealed plan stays</span>
        </span>
      </label>
      {listsAll ? (
        <p class="quiet">
          It lists the whole <Term name="scope">scope</Term>, whatever the text says.
        </p>
      ) : (
        <label class="rounds-choice">
          <input
            type="checkbox"
            checked={asked.is_partial}
            onChange={({ currentTarget }) => change({ is_partial: currentTarget.checked })}
          />
          <span>
            <b>Only what the text names</b> <span class="quiet">otherwise everything in the folder</span>
          </span>
        </label>
      )}
    </fieldset>
  )
}
