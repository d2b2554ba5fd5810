import { useNavigate } from '@tanstack/react-router'
import { useDraft } from '../../client/drafts.ts'
import { type RoundRequest, useRoundRequest, whyNoRound } from '../../client/sessions/use-session.ts'
import { useMe } from '../../client/use-me.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { plural, shorten, visibleText } from '../../ui/words.ts'
import { isAsking, RequestFailure, SentenceForm } from '../session/round-request.tsx'
import { useOpenSession } from '../session/session-context.ts'
import { requestFor } from './drift-report.ts'

/** Returns the draft: the selected addresses and the typed sentence. */
export const useDriftDraft = (sessionId: string) =>
  useDraft<{ ticked: string[]; sentence: string }>(`drift.${sessionId}`, { ticked: [], sentence: '' })
export type DriftDraft = ReturnType<typeof useDriftDraft>

const CHECK: RoundRequest = { mode: 'drift', kind: 'check', preview: true, q: 'What differs from what really runs?' }
const ALL: RoundRequest = { mode: 'drift', kind: 'all', q: 'Bring everything in line with what really runs.' }

/** Shows the drift rounds that can be requested, or the reason why none can. */
export function Actions({ draft, hasReport }: { draft: DriftDraft; hasReport: boolean }) {
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
    void navigate({
      to: '/sessions/$sessionId',
      params: { sessionId: open.session.uuid },
      search: { round: number },
    })
  }
  const { ticked, sentence } = draft.value
  const q = requestFor(ticked)
  return (
    <section class="card drift-actions" aria-labelledby="drift-actions">
      <h3 id="drift-actions">Actions</h3>
      {refusal !== null && <Notice title="No round can be requested now">{refusal}</Notice>}
      {refusal === null && (
        <>
          <div class="drift-buttons">
            <Button
              kind={hasReport ? 'plain' : 'primary'}
              busy={isAsking(request, 'check')}
              onClick={() => void ask(CHECK)}
            >
              {hasReport ? 'Check again' : 'Check for drift'}
            </Button>
            <Button busy={isAsking(request, 'all')} onClick={() => void ask(ALL)}>
              Remediate everything
            </Button>
          </div>
          <p class="small quiet">
            A check changes nothing. To remediate changes the code on the branch of this session.
          </p>
          {hasReport && ticked.length === 0 && (
            <p class="small quiet">Select resources that differ to remediate only these.</p>
          )}
          {hasReport && ticked.length > 0 && (
            <div class="drift-ticked">
              <Button
                kind="primary"
                busy={isAsking(request, 'ticked')}
                onClick={() => void ask({ mode: 'drift', kind: 'ticked', is_partial: true, q })}
              >
                Remediate the {plural(ticked.length, 'selected resource')}
              </Button>
              <Button kind="quiet" onClick={() => draft.change({ ticked: [] })}>
                Clear the selection
              </Button>
              <p class="small quiet">The request will be: “{shorten(visibleText(q), 400)}”</p>
            </div>
          )}
          <SentenceForm
            class="drift-named"
            request={request}
            label="Remediate only what a sentence names"
            hint="For example: Bring the flow logs in line with what really runs."
            action="Remediate what is named"
            sentence={sentence}
            change={(next) => draft.change({ sentence: next })}
            ask={(named) => void ask({ mode: 'drift', kind: 'named', is_partial: true, q: named })}
          />
        </>
      )}
      <RequestFailure request={request} ask={(round) => void ask(round)} />
    </section>
  )
}
