import { useNavigate } from '@tanstack/react-router'
import type { Round } from '../../client/api/client.ts'
import { useMe } from '../../client/platform.ts'
import { hasEnded, type RoundRequest, useRoundRequest, whyNoRound } from '../../client/sessions/use-session.ts'
import { Button, Empty, Notice, Term } from '../../ui/kit.tsx'
import { excerpt, plural, visibleText } from '../../ui/words.ts'
import { RoundPicker, useOpenSession, useSelectedRound } from '../session/open-session.tsx'
import { RequestFailure, RoundButton, SentenceForm } from '../session/round-request.tsx'
import { type DriftDraft, Result, useDriftDraft } from './drift-result.tsx'

const isDrift = ({ reports }: Round) => reports.some(({ type }) => type === 'drift')

/** Shows the differences between code and cloud, and the remediation of the code. */
export function Screen() {
  const { session } = useOpenSession()
  const selected = useSelectedRound(isDrift)
  const draft = useDriftDraft(session.uuid)
  const { round } = selected
  return (
    <section class="drift">
      <header class="drift-head">
        <h2>Drift</h2>
        <RoundPicker {...selected} />
      </header>
      <p class="drift-lead quiet">
        <Term name="drift">Drift</Term> is any difference between the code and the cloud. To remediate it, the platform
        changes the code until it describes what really runs, on the branch{' '}
        <code>{visibleText(session.workspace.branch)}</code>. Neither a check nor a remediation changes the cloud.
      </p>
      {round ? (
        <Result key={round.id} round={round} draft={draft} />
      ) : (
        <Empty title="No drift check in this session yet">
          {session.rounds.some((last) => !hasEnded(last))
            ? 'A round is running. If it checks for drift, its report appears here.'
            : 'Check for drift, which changes nothing, or remediate the code.'}
        </Empty>
      )}
      <Actions draft={draft} hasReport={round !== null} />
    </section>
  )
}

const CHECK: RoundRequest = { mode: 'drift', kind: 'check', preview: true, q: 'What differs from what really runs?' }
const ALL: RoundRequest = { mode: 'drift', kind: 'all', q: 'Bring everything in line with what really runs.' }

/** Shows the drift rounds that can be requested, or the reason why none can. */
function Actions({ draft, hasReport }: { draft: DriftDraft; hasReport: boolean }) {
  const open = useOpenSession()
  const { data: me } = useMe()
  const request = useRoundRequest(open.session.uuid)
  const navigate = useNavigate()
  const refusal =
    whyNoRound(open) ??
    (me && me.operation_role !== 'devops'
      ? 'Drift needs the operation role devops; yours is developer. An administrator of the platform can assign it.'
      : null)
  const ask = async (round: RoundRequest) => {
    const number = await request.mutateAsync(round).catch(() => null)
    if (number === null) return
    draft.clear()
    const params = { sessionId: open.session.uuid }
    void navigate({ to: '/sessions/$sessionId', params, search: { round: number } })
  }
  const requests = { request, ask }
  const { ticked, sentence } = draft.value
  const q = `Bring only ${ticked.join(', ')} in line with what really runs.`
  return (
    <section class="card drift-actions" aria-labelledby="drift-actions">
      <h3 id="drift-actions">Actions</h3>
      {refusal !== null ? (
        <Notice title="No round can be requested now">{refusal}</Notice>
      ) : (
        <>
          <div class="drift-buttons">
            <RoundButton {...requests} round={CHECK} primary={!hasReport}>
              {hasReport ? 'Check again' : 'Check for drift'}
            </RoundButton>
            <RoundButton {...requests} round={ALL}>
              Remediate everything
            </RoundButton>
          </div>
          <p class="small quiet">
            A check changes nothing. To remediate changes the code on the branch of this session.
          </p>
          {hasReport && ticked.length === 0 && (
            <p class="small quiet">Select resources that differ to remediate only these.</p>
          )}
          {hasReport && ticked.length > 0 && (
            <div class="drift-ticked">
              <RoundButton {...requests} round={{ mode: 'drift', kind: 'ticked', is_partial: true, q }} primary>
                Remediate the {plural(ticked.length, 'selected resource')}
              </RoundButton>
              <Button kind="quiet" onClick={() => draft.change({ ticked: [] })}>
                Clear the selection
              </Button>
              <p class="small quiet">The request will be: “{excerpt(q, 400)}”</p>
            </div>
          )}
          <SentenceForm
            {...requests}
            mode="drift"
            class="drift-named"
            label="Remediate only what a sentence names"
            hint="For example: Bring the flow logs in line with what really runs."
            action="Remediate what is named"
            sentence={sentence}
            change={(next) => draft.change({ sentence: next })}
          />
        </>
      )}
      <RequestFailure {...requests} />
    </section>
  )
}
