import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, type Budget, calls, ROUND_CALLS, Unreachable } from '../../client/api/client.ts'
import { useDraft } from '../../client/drafts.ts'
import { type Example, useMe, usePlatform, useStore } from '../../client/platform.ts'
import type { useRecentSessions } from '../../client/sessions/use-session.ts'
import { COMMAND, Form, TextArea } from '../../ui/controls.tsx'
import { Ago, Badge, Button, ErrorNotice, Notice, Skeleton, StatusBadge, Term } from '../../ui/kit.tsx'
import { Page } from '../../ui/page.tsx'
import { BudgetsLeft } from '../../ui/round/budgets.tsx'
import { excerpt, repositoryName, visibleText } from '../../ui/words.ts'
import { SessionLink } from '../session/open-session.tsx'
import {
  type FieldName,
  type Fields,
  type FormInput,
  findMissing,
  idOf,
  MODES,
  type Mode,
  type ModeName,
  modeOf,
  modeOfExample,
  readRefusal,
  toBody,
  toInput,
  withoutSecret,
} from './form.ts'
import { PlaceFields, PlaceStatus } from './place-fields.tsx'
import { usePlace } from './use-place.ts'

/** Shows the first screen: request, place, and mode. */
export function Screen() {
  const { value: input, set, change, clear } = useDraft<FormInput>('start', {}, withoutSecret)
  const place = usePlace(input)
  const request = useRequest(place.fields, clear)
  const isRefused = place.decision.data?.result === false
  const submit = () => {
    if (isRefused) document.getElementById('start-refused')?.focus()
    else request.send()
  }
  return (
    <Page
      title="What should change?"
      lead="Say it in a sentence. Nothing is applied before you have reviewed the plan."
    >
      <Form
        class="start-form"
        noValidate
        aria-label="New request"
        send={submit}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return
          event.preventDefault()
          submit()
        }}
      >
        <Examples input={input} set={set} />
        <Sentence fields={place.fields} change={change} error={request.errorOf('q')} />
        <PlaceFields place={place} input={input} change={change} errorOf={request.errorOf} />
        <PlaceStatus place={place} />
        <ModeCards chosen={place.fields.mode} choose={(mode) => change({ mode })} />
        <Failure error={request.failure} />
        <p class="start-send">
          <Button
            kind="primary"
            type="submit"
            busy={request.sending}
            aria-describedby={isRefused ? 'start-refused' : undefined}
          >
            {request.sending ? 'Sending' : 'Send request'}
          </Button>
          <span class="small quiet">
            This opens a session and starts its first round, which changes nothing in the cloud.
          </span>
        </p>
        <BudgetsLeft budgets={useMyBudgets()} is_own />
      </Form>
      <Next open={place.recent.isSuccess && !place.hasSessions} />
      <Recent recent={place.recent} />
    </Page>
  )
}

/** Reads what is left of the caller's budgets of the day; empty until it is known and without any. */
function useMyBudgets(): readonly Budget[] {
  const { api } = usePlatform()
  const { data } = useQuery({
    queryKey: ['usage'],
    queryFn: ({ signal }) => calls.getMyUsage(api, { signal }),
    refetchInterval: 60_000,
  })
  return data?.budgets ?? []
}

const KEY = ['request']

type Errors = Partial<Record<FieldName, { text: string; value: string }>>

/** Sends the form, once at a time; `done` runs when the typed text is no longer needed. */
function useRequest(fields: Fields, done: () => void) {
  const { api } = usePlatform()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [errors, setErrors] = useState<Errors>({})

  const refuse = (found: Partial<Record<FieldName, string>>, given: Fields) => {
    const entries = Object.entries(found) as [FieldName, string][]
    setErrors(Object.fromEntries(entries.map(([name, text]) => [name, { text, value: given[name] }])))
    const first = (['q', 'repo_uri', 'engine_providers', 'scope_id', 'iac_path'] as const).find((name) => found[name])
    if (first) document.getElementById(idOf(first))?.focus()
    return entries.length > 0
  }
  const request = useMutation({
    mutationKey: KEY,
    mutationFn: async (sent: Fields) => {
      const { session_id } = await ROUND_CALLS[modeOf(sent.mode).operation](api, { body: toBody(sent) })
      void client.invalidateQueries({ queryKey: ['sessions'] })
      done()
      await navigate({ to: '/sessions/$sessionId', params: { sessionId: session_id } })
    },
    onError: (error, sent) => refuse(readRefusal(error).fields, sent),
  })
  const send = () => {
    // The state of the mutation changes only with the next drawing.
    if (client.isMutating({ mutationKey: KEY }) > 0) return
    request.reset()
    if (!refuse(findMissing(fields), fields)) request.mutate(fields)
  }
  /** Returns the error of a field while it has the refused value. */
  const errorOf = (name: FieldName) => (errors[name]?.value === fields[name] ? errors[name]?.text : undefined)
  const failure = request.error && readRefusal(request.error).rest ? request.error : null
  return { send, sending: request.isPending, failure, errorOf }
}

/** Shows the steps after sending, open for users without sessions. */
function Next({ open }: { open: boolean }) {
  return (
    <details class="start-next" open={open}>
      <summary>What happens after you send</summary>
      <ol>
        <li>
          <b>
            The platform starts a <Term name="round" />.
          </b>{' '}
          A model writes code on a separate branch and the engine checks it. You can watch it, stop it and send further
          requests.
        </li>
        <li>
          <b>
            You review the <Term name="plan" />.
          </b>{' '}
          Resources, with its <Term name="impact" /> and the findings of the rules.
        </li>
        <li>
          <b>
            The reviewed plan becomes the <Term name="saved plan" />.
          </b>{' '}
          You open the pull request and apply exactly that plan, or nothing.
        </li>
      </ol>
    </details>
  )
}

/** Shows the reason of a refusal that concerns no single field. */
function Failure({ error }: { error: unknown }) {
  const { signIn } = usePlatform()
  const state = useStore(signIn.state)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (error) place.current?.scrollIntoView({ block: 'nearest' })
  }, [error])
  if (!error) return null
  return (
    <div ref={place}>
      {error instanceof ApiError && error.status === 401 ? (
        <Notice
          tone="bad"
          title="You are signed out"
          actions={state !== 'open' && <Button onClick={() => void signIn.start()}>Sign in again</Button>}
        >
          Nothing was sent and your input is kept. Sign in again, then send.
        </Notice>
      ) : error instanceof Unreachable ? (
        <Notice
          tone="bad"
          title="The platform did not answer"
          actions={<Link to="/sessions">Check your sessions</Link>}
        >
          The request may have arrived all the same. Check whether there is a session for it before you send it again.
          Your input is kept.
        </Notice>
      ) : (
        <ErrorNotice error={error} title="The request was not accepted" />
      )}
    </div>
  )
}

const SHOWN = 4

/** Shows the caller's last active sessions. */
function Recent({ recent: { data, error, refetch } }: { recent: ReturnType<typeof useRecentSessions> }) {
  if (data?.length === 0) return null
  return (
    <section class="start-recent" aria-labelledby="start-recent">
      <h2 id="start-recent">Your recent sessions</h2>
      {error && <ErrorNotice error={error} title="Your sessions could not be read" retry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={SHOWN} label="Loading your sessions" />}
      {data && (
        <ul class="card">
          {data.slice(0, SHOWN).map(({ uuid, first_query, workspace, updated_at, is_blocked, current_status }) => (
            <li key={uuid} class="start-row">
              <SessionLink id={uuid}>
                <bdi>{excerpt(first_query?.trim() || 'Session without a request', 160)}</bdi>
              </SessionLink>
              <span class="start-facts small quiet">
                <span>{visibleText(repositoryName(workspace.uri))}</span>
                <Ago at={updated_at} />
                {is_blocked && <Badge tone="bad">Locked</Badge>}
                <StatusBadge status={current_status} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <p>
        <Link to="/sessions">All sessions</Link>
      </p>
    </section>
  )
}

interface SentenceProps {
  fields: Fields
  change: (input: FormInput) => void
  error: string | undefined
}

/** Shows the field for the request in plain words. */
function Sentence({ fields, change, error }: SentenceProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const { fallback, operation } = modeOf(fields.mode)
  useEffect(() => {
    // On touch screens, the focus would open a keyboard that covers half of the page.
    if (matchMedia('(pointer: fine)').matches) area.current?.focus({ preventScroll: true })
  }, [])
  return (
    <TextArea
      id={idOf('q')}
      label="Your request"
      optional={fallback !== null}
      error={error}
      hint={
        <>
          <kbd>Enter</kbd> begins a new line, <kbd>{COMMAND}</kbd> <kbd>Enter</kbd> sends. In the fields below{' '}
          <kbd>Enter</kbd> sends.
        </>
      }
      area={area}
      class="start-sentence"
      rows={3}
      aria-required={fallback === null}
      value={fields.q}
      placeholder={fallback ?? (operation === 'generate' ? 'Add a private bucket for build logs.' : 'The log buckets.')}
      change={(q) => change({ q })}
    />
  )
}

/** Shows requests that the operator suggests: one click fills in the whole form, and another restores it. */
function Examples({ input, set }: { input: FormInput; set: (input: FormInput) => void }) {
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

interface ModeCardsProps {
  chosen: ModeName
  choose: (mode: ModeName) => void
}

/** Shows the modes in three columns. */
function ModeCards(props: ModeCardsProps) {
  const me = useMe()
  const mayDrift = me.data?.operation_role !== 'developer'
  return (
    <fieldset class="start-modes">
      <legend class="field-label">Mode</legend>
      <Column {...props} operation="generate" title="Change">
        <p class="start-apply small quiet">
          Apply comes later: it carries out the <Term name="saved plan" /> that you reviewed, from the{' '}
          <Link to="/sessions">session</Link> that made it.
        </p>
      </Column>
      <Column {...props} operation="drift" title={<Term name="drift">Drift</Term>} locked={!mayDrift} />
      <Column {...props} operation="import" title="Import" />
    </fieldset>
  )
}

interface ColumnProps extends ModeCardsProps {
  operation: Mode['operation']
  title: ComponentChildren
  locked?: boolean
  children?: ComponentChildren
}

function Column({ operation, title, locked = false, chosen, choose, children }: ColumnProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset inside of a fieldset would be read as a second question
    <div class="start-column" role="group" aria-label={operation}>
      <p class="start-column-title">{title}</p>
      {locked && (
        <p class="small start-warn" id="start-locked">
          Needs the operation role devops; yours is developer. An administrator can change it.
        </p>
      )}
      {MODES.filter((mode) => mode.operation === operation).map(({ name, title, says }) => (
        <label key={name} class="start-mode">
          <input
            type="radio"
            name="mode"
            value={name}
            checked={name === chosen}
            disabled={locked && name !== chosen}
            aria-describedby={locked ? 'start-locked' : undefined}
            onChange={() => choose(name)}
          />
          <span>
            <b>{title}</b> <span class="small quiet">{says}</span>
          </span>
        </label>
      ))}
      {children}
    </div>
  )
}
