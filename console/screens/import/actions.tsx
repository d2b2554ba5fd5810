import { Link } from '@tanstack/react-router'
import { useId } from 'preact/hooks'
import { ApiError, problemsByField } from '../../client/api/errors.ts'
import { type RoundWish, useRoundRequest, whyNoRound } from '../../client/sessions/use-round-request.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Empty, ErrorNotice, Notice } from '../../ui/notice.tsx'
import { formatNumber, plural } from '../../ui/words/format.ts'
import { useOpenSession } from '../session/context.ts'
import { refusedIds } from './inventory.ts'
import type { Choice } from './use-choice.ts'

const LOOK: RoundWish = { mode: 'import', kind: 'look', preview: true, q: 'What does nobody manage yet?' }
const ALL: RoundWish = { mode: 'import', kind: 'all', q: 'Import all the infrastructure' }

/** What can be asked for; whoever may not, or has to wait, is told why instead. */
export function Actions({ choice, hasPreview }: { choice: Choice; hasPreview: boolean }) {
  const open = useOpenSession()
  const { session } = open
  const request = useRoundRequest(session.uuid)
  const refusal = whyNoRound(open)
  const ask = async (wish: RoundWish) => {
    choice.refuse(new Map())
    try {
      const number = await request.mutateAsync(wish)
      if (number !== null && !wish.preview) choice.clear()
    } catch (error) {
      if (error instanceof ApiError) choice.refuse(refusedIds(error.problems, wish.resource_ids ?? []))
    }
  }
  const busy = (kind: string) => request.isPending && request.variables.kind === kind
  return (
    <section class="import-actions card" aria-labelledby="import-actions">
      <h3 id="import-actions">What to do</h3>
      {!hasPreview && (
        <Empty title="Nobody has looked into the scope in this session">
          A look lists what exists, changes nothing and asks no model. Then you choose what is imported.
        </Empty>
      )}
      {refusal !== null && <Notice title="No round can be asked for now">{refusal}</Notice>}
      {refusal === null && (
        <>
          <div class="import-line">
            <Button kind={hasPreview ? 'plain' : 'primary'} busy={busy('look')} onClick={() => void ask(LOOK)}>
              {hasPreview ? 'Look again' : 'Look what exists'}
            </Button>
            {hasPreview && <Chosen choice={choice} busy={busy('chosen')} ask={ask} />}
            <Button busy={busy('all')} onClick={() => void ask(ALL)}>
              Import everything
            </Button>
          </div>
          <Named choice={choice} busy={busy('named')} ask={ask} error={problemsByField(request.error).q} />
        </>
      )}
      <Outcome request={request} choice={choice} ask={ask} />
      {request.isSuccess && request.data !== null && (
        <p role="status">
          Round {formatNumber(request.data)} was accepted.{' '}
          <Link
            to={'/sessions/$sessionId' as never}
            params={{ sessionId: session.uuid } as never}
            search={{ round: request.data } as never}
          >
            Watch everything it does
          </Link>
        </p>
      )}
    </section>
  )
}

interface PartProps {
  choice: Choice
  busy: boolean
  ask: (wish: RoundWish) => void
}

function Chosen({ choice: { chosen }, busy, ask }: PartProps) {
  const resource_ids = [...chosen]
  const wish = { mode: 'import', kind: 'chosen', resource_ids } as const
  const q = `Import ${plural(chosen.size, 'chosen resource')}.`
  if (chosen.size === 0) return <span class="small quiet">Tick resources above to import only these.</span>
  return (
    <Button kind="primary" busy={busy} onClick={() => ask({ ...wish, q })}>
      Import the {plural(chosen.size, 'ticked resource')}
    </Button>
  )
}

function Named({ choice, busy, ask, error }: PartProps & { error: string | undefined }) {
  const id = useId().replaceAll(':', '')
  const q = choice.sentence.trim()
  const submit = (event: Event) => {
    event.preventDefault()
    if (q !== '') ask({ mode: 'import', kind: 'named', is_partial: true, q })
  }
  return (
    <form class="import-named" onSubmit={submit}>
      <Field
        id={id}
        label="Import only what a sentence names"
        hint="A model selects what the sentence means. For example: Import the queues of the invoices service."
        error={error}
      >
        {(control) => (
          <textarea
            {...control}
            rows={2}
            dir="auto"
            value={choice.sentence}
            onInput={({ currentTarget }) => choice.say(currentTarget.value)}
          />
        )}
      </Field>
      <Button type="submit" busy={busy} disabled={q === '' && !busy}>
        Import what is named
      </Button>
    </form>
  )
}

interface OutcomeProps {
  request: ReturnType<typeof useRoundRequest>
  choice: Choice
  ask: (wish: RoundWish) => void
}

function Outcome({ request, choice, ask }: OutcomeProps) {
  const { refused } = choice
  if (refused.size > 0)
    return (
      <Notice
        tone="bad"
        title={`${plural(refused.size, 'ticked resource was', 'ticked resources were')} refused`}
        actions={
          <>
            <Button onClick={() => choice.drop(refused.keys())}>Untick what was refused</Button>
            <Button onClick={() => ask(LOOK)}>Look again</Button>
          </>
        }
      >
        The scope is not as it was when the list was made. Each is marked in the list, with the reason.
      </Notice>
    )
  if (request.error)
    return (
      <ErrorNotice
        error={request.error}
        title="The round was not accepted"
        retry={() => request.variables && ask(request.variables)}
      />
    )
  if (request.isSuccess && request.data === null)
    return (
      <Notice tone="warn">The platform began no round, because another one runs. Try again when that has ended.</Notice>
    )
  return null
}
