import { ApiError } from '../../client/api/errors.ts'
import { type RoundRequest, useRoundRequest, whyNoRound } from '../../client/sessions/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, Notice } from '../../ui/notice.tsx'
import { formatNumber, plural } from '../../ui/words.ts'
import { isAsking, RequestFailure, SentenceForm } from '../session/round-request.tsx'
import { useOpenSession } from '../session/session-context.ts'
import { SessionLink } from '../session/session-link.tsx'
import { refusedIds } from './inventory.ts'
import type { Choice } from './use-choice.ts'

const LOOK: RoundRequest = { mode: 'import', kind: 'look', preview: true, q: 'What does nobody manage yet?' }
const ALL: RoundRequest = { mode: 'import', kind: 'all', q: 'Import all the infrastructure' }

/** Shows the import rounds that can be requested, or the reason why none can. */
export function Actions({ choice, hasPreview }: { choice: Choice; hasPreview: boolean }) {
  const open = useOpenSession()
  const { session } = open
  const request = useRoundRequest(session.uuid)
  const refusal = whyNoRound(open)
  const { chosen } = choice
  const ask = async (round: RoundRequest) => {
    choice.refuse(new Map())
    try {
      const number = await request.mutateAsync(round)
      if (number !== null && !round.preview) choice.clear()
    } catch (error) {
      if (error instanceof ApiError) choice.refuse(refusedIds(error.problems, round.resource_ids ?? []))
    }
  }
  const askChosen = () => {
    const q = `Import ${plural(chosen.size, 'chosen resource')}.`
    void ask({ mode: 'import', kind: 'chosen', resource_ids: [...chosen], q })
  }
  return (
    <section class="import-actions card" aria-labelledby="import-actions">
      <h3 id="import-actions">Actions</h3>
      {!hasPreview && (
        <Empty title="No inventory in this session yet">
          An inventory lists what exists, changes nothing and uses no model. Then you select what to import.
        </Empty>
      )}
      {refusal !== null && <Notice title="No round can be requested now">{refusal}</Notice>}
      {refusal === null && (
        <>
          <div class="import-line">
            <Button
              kind={hasPreview ? 'plain' : 'primary'}
              busy={isAsking(request, 'look')}
              onClick={() => void ask(LOOK)}
            >
              {hasPreview ? 'List again' : 'List what exists'}
            </Button>
            {hasPreview && chosen.size === 0 && (
              <span class="small quiet">Select resources above to import only these.</span>
            )}
            {hasPreview && chosen.size > 0 && (
              <Button kind="primary" busy={isAsking(request, 'chosen')} onClick={askChosen}>
                Import the {plural(chosen.size, 'selected resource')}
              </Button>
            )}
            <Button busy={isAsking(request, 'all')} onClick={() => void ask(ALL)}>
              Import everything
            </Button>
          </div>
          <SentenceForm
            class="import-named"
            request={request}
            label="Import only what a sentence names"
            hint="A model selects what the sentence means. For example: Import the queues of the invoices service."
            action="Import what is named"
            sentence={choice.sentence}
            change={choice.say}
            ask={(q) => void ask({ mode: 'import', kind: 'named', is_partial: true, q })}
          />
        </>
      )}
      {choice.refused.size > 0 ? (
        <RefusedResources choice={choice} lookAgain={() => void ask(LOOK)} />
      ) : (
        <RequestFailure request={request} ask={(round) => void ask(round)} />
      )}
      {request.isSuccess && request.data !== null && (
        <p role="status">
          Round {formatNumber(request.data)} was accepted.{' '}
          <SessionLink id={session.uuid} search={{ round: request.data }}>
            Watch it
          </SessionLink>
        </p>
      )}
    </section>
  )
}

const RefusedResources = ({ choice: { refused, drop }, lookAgain }: { choice: Choice; lookAgain: () => void }) => (
  <Notice
    tone="bad"
    title={`${plural(refused.size, 'selected resource was', 'selected resources were')} refused`}
    actions={
      <>
        <Button onClick={() => drop(refused.keys())}>Deselect the refused resources</Button>
        <Button onClick={lookAgain}>List again</Button>
      </>
    }
  >
    The scope has changed since the inventory was made. Each refused resource is marked in the list, with the reason.
  </Notice>
)
