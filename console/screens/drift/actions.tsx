import { useNavigate } from '@tanstack/react-router'
import { useId } from 'preact/hooks'
import { problemsByField } from '../../client/api/errors.ts'
import { type RoundWish, useRoundRequest, whyNoRound } from '../../client/sessions/use-round-request.ts'
import { useMe } from '../../client/use-me.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import { plural } from '../../ui/words/format.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'
import { useOpenSession } from '../session/context.ts'
import { requestFor } from './report.ts'
import type { DriftDraft } from './use-drift-draft.ts'

const LOOK: RoundWish = { mode: 'drift', kind: 'look', preview: true, q: 'What differs from what really runs?' }
const MEND_ALL: RoundWish = { mode: 'drift', kind: 'all', q: 'Bring everything in line with what really runs.' }

/** What can be asked for; whoever may not, or has to wait, is told why instead. */
export function Actions({ draft, hasReport }: { draft: DriftDraft; hasReport: boolean }) {
  const open = useOpenSession()
  const { data: me } = useMe()
  const request = useRoundRequest(open.session.uuid)
  const navigate = useNavigate()
  const refusal =
    whyNoRound(open) ??
    (me && me.operation_role !== 'devops'
      ? 'Drift needs the operation role devops, and yours is developer. An administrator of the platform can give it.'
      : null)
  const ask = async (wish: RoundWish) => {
    const number = await request.mutateAsync(wish).catch(() => null)
    if (number === null) return
    draft.clear()
    const to = { to: '/sessions/$sessionId', params: { sessionId: open.session.uuid }, search: { round: number } }
    void navigate(to as never)
  }
  const busy = (kind: string) => request.isPending && request.variables.kind === kind
  return (
    <section class="card drift-actions" aria-labelledby="drift-actions">
      <h3 id="drift-actions">What to do</h3>
      {refusal !== null && <Notice title="No round can be asked for now">{refusal}</Notice>}
      {refusal === null && (
        <>
          <div class="drift-buttons">
            <Button kind={hasReport ? 'plain' : 'primary'} busy={busy('look')} onClick={() => void ask(LOOK)}>
              {hasReport ? 'Look again' : 'Look what differs'}
            </Button>
            <Button busy={busy('all')} onClick={() => void ask(MEND_ALL)}>
              Mend everything
            </Button>
          </div>
          <p class="small quiet">Looking changes nothing. Mending changes the code on the branch of this session.</p>
          {hasReport && <Ticked draft={draft} busy={busy('ticked')} ask={ask} />}
          <Named draft={draft} busy={busy('named')} ask={ask} error={problemsByField(request.error).q} />
        </>
      )}
      {request.error && (
        <ErrorNotice
          error={request.error}
          title="The round was not accepted"
          retry={() => request.variables && void ask(request.variables)}
        />
      )}
      {request.isSuccess && request.data === null && (
        <Notice tone="warn">
          The platform began no round, because another one runs. Try again when that has ended.
        </Notice>
      )}
    </section>
  )
}

interface PartProps {
  draft: DriftDraft
  busy: boolean
  ask: (wish: RoundWish) => void
}

function Ticked({ draft: { ticked, untick }, busy, ask }: PartProps) {
  if (ticked.length === 0) return <p class="small quiet">Tick resources that differ to mend only these.</p>
  const q = requestFor(ticked)
  return (
    <div class="drift-ticked">
      <Button kind="primary" busy={busy} onClick={() => ask({ mode: 'drift', kind: 'ticked', is_partial: true, q })}>
        Mend the {plural(ticked.length, 'ticked resource')}
      </Button>
      <Button kind="quiet" onClick={untick}>
        Untick all
      </Button>
      <p class="small quiet">It will be asked for: “{shorten(visibleText(q), 400)}”</p>
    </div>
  )
}

function Named({ draft, busy, ask, error }: PartProps & { error: string | undefined }) {
  const id = useId().replaceAll(':', '')
  const q = draft.sentence.trim()
  const submit = (event: Event) => {
    event.preventDefault()
    if (q !== '') ask({ mode: 'drift', kind: 'named', is_partial: true, q })
  }
  return (
    <form class="drift-named" onSubmit={submit}>
      <Field
        id={id}
        label="Mend only what a sentence names"
        hint="For example: Bring the flow logs in line with what really runs."
        error={error}
      >
        {(control) => (
          <textarea
            {...control}
            rows={2}
            dir="auto"
            value={draft.sentence}
            onInput={({ currentTarget }) => draft.say(currentTarget.value)}
          />
        )}
      </Field>
      <Button type="submit" busy={busy} disabled={q === '' && !busy}>
        Mend what is named
      </Button>
    </form>
  )
}
