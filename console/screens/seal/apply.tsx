import { useMutation } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import type { Seal, Session } from '../../client/api/schemas.ts'
import { usePlatform } from '../../client/platform.ts'
import { usePlanDocument } from '../../client/sessions/use-artifact.ts'
import { useRefreshSession } from '../../client/sessions/use-session.ts'
import { actionName } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { formatNumber } from '../../ui/words.ts'
import { Refused } from '../session/refusal.tsx'
import { findLosses, findRefusal } from './apply-readiness.ts'
import { ConfirmApply } from './confirm-apply.tsx'

/** Applies the saved plan, or says why that is not possible. */
export function Apply({ session, seal, isOwn }: { session: Session; seal: Seal; isOwn: boolean }) {
  const refusal = findRefusal(session, isOwn)
  if (!refusal) return <Ready session={session} seal={seal} />
  const isUsed = seal.reason === 'used'
  return (
    <Refused
      refusal={refusal}
      sessionId={session.uuid}
      tone={isUsed ? 'neutral' : 'warn'}
      title={isUsed ? 'The saved plan was applied' : 'This plan cannot be applied now'}
    />
  )
}

function Ready({ session, seal }: { session: Session; seal: Seal }) {
  const { api } = usePlatform()
  const refresh = useRefreshSession()
  const [open, setOpen] = useState(false)
  const plan = usePlanDocument(session.uuid, session.rounds.find(({ number }) => number === seal.round) ?? null)
  const apply = useMutation({
    mutationFn: () => calls.apply(api, { body: { session_id: session.uuid } }),
    onSuccess: () => setOpen(false),
    onSettled: () => refresh(session.uuid),
  })
  if (plan.isLoading) return <Skeleton lines={3} label="Loading the plan" />
  const document = Array.isArray(plan.data?.resources) ? plan.data : null
  const losses = document && findLosses(document)
  return (
    <section class="card seal-apply" aria-labelledby="seal-apply">
      <div>
        <h3 id="seal-apply">Ready to apply</h3>
        <p>{document ? summarise(document.summary) : 'What the plan does cannot be read at the moment.'}</p>
        {losses !== null && losses.critical.length > 0 && (
          <p class="seal-warning">
            It destroys or replaces something that holds data or grants access. You will be asked to type a
            confirmation.
          </p>
        )}
      </div>
      <Button kind={losses?.critical.length === 0 ? 'primary' : 'danger'} onClick={() => setOpen(true)}>
        Apply the saved plan…
      </Button>
      <ConfirmApply
        open={open}
        seal={seal}
        losses={losses}
        busy={apply.isPending}
        error={apply.error && <ErrorNotice error={apply.error} title="The apply did not start" />}
        onConfirm={() => apply.mutate()}
        onClose={() => setOpen(false)}
      />
    </section>
  )
}

function summarise(summary: Record<string, number>): string {
  const parts = (['create', 'update', 'replace', 'delete', 'import', 'move', 'forget'] as const)
    .filter((action) => (summary[action] ?? 0) > 0)
    .map((action) => `${actionName(action)} ${formatNumber(summary[action] ?? 0)}`)
  return parts.length === 0 ? 'It changes no resource.' : `It will ${parts.join(', ')}.`
}
