import { useMutation } from '@tanstack/preact-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import type { Seal, Session } from '../../client/api/types.ts'
import { usePlatform } from '../../client/platform.ts'
import { usePlanDocument } from '../../client/sessions/use-plan-document.ts'
import { useRefreshSession } from '../../client/sessions/use-session.ts'
import { actionName } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice, Notice, Skeleton } from '../../ui/notice.tsx'
import { formatNumber } from '../../ui/words/format.ts'
import { visibleText } from '../../ui/words/text.ts'
import { ConfirmApply } from './confirm-apply.tsx'
import { findLosses, findRefusal, type Refusal } from './readiness.ts'

/** The way from a sealed plan to the cloud, or why it is barred. */
export function Apply({ session, seal, isOwn }: { session: Session; seal: Seal; isOwn: boolean }) {
  const refusal = findRefusal(session, isOwn)
  if (refusal) return <Refused refusal={refusal} isUsed={seal.reason === 'used'} sessionId={session.uuid} />
  return <Ready session={session} seal={seal} />
}

const REMEDIES: Record<NonNullable<Refusal['remedy']>, [path: string, name: string]> = {
  rounds: ['/sessions/$sessionId', 'Go to the rounds'],
  locked: ['/locked', 'Locked sessions'],
  start: ['/', 'New request'],
}

interface RefusedProps {
  refusal: Refusal
  isUsed: boolean
  sessionId: string
}

function Refused({ refusal: { reason, advice, remedy }, isUsed, sessionId }: RefusedProps) {
  const [path, name] = remedy ? REMEDIES[remedy] : []
  return (
    <Notice
      tone={isUsed ? 'neutral' : 'warn'}
      title={isUsed ? 'The seal is used' : 'This plan cannot be applied now'}
      actions={
        path && (
          <Link class="button" to={path as never} params={{ sessionId } as never} activeOptions={{ exact: true }}>
            {name}
          </Link>
        )
      }
    >
      <p>{visibleText(reason)}</p>
      <p>{advice}</p>
    </Notice>
  )
}

function Ready({ session, seal }: { session: Session; seal: Seal }) {
  const { api } = usePlatform()
  const refresh = useRefreshSession()
  const [open, setOpen] = useState(false)
  const sealed = session.rounds.find(({ number }) => number === seal.round) ?? null
  const plan = usePlanDocument(session.uuid, sealed)
  const hasPlan = Array.isArray(plan.data?.resources)
  const apply = useMutation({
    mutationFn: () => calls.apply(api, { body: { session_id: session.uuid } }),
    onSuccess: () => setOpen(false),
    onSettled: () => refresh(session.uuid),
  })
  if (plan.isLoading) return <Skeleton lines={3} label="The plan is being read" />
  const losses = hasPlan && plan.data ? findLosses(plan.data) : null
  return (
    <section class="card seal-apply" aria-labelledby="seal-apply">
      <div>
        <h3 id="seal-apply">Ready to apply</h3>
        <p>
          {hasPlan && plan.data ? summarise(plan.data.summary) : 'What the plan does cannot be read at the moment.'}
        </p>
        {losses !== null && losses.critical.length > 0 && (
          <p class="seal-warning">
            It destroys or replaces something that holds data or grants access. You will be asked to type a
            confirmation.
          </p>
        )}
      </div>
      <Button kind={losses?.critical.length === 0 ? 'primary' : 'danger'} onClick={() => setOpen(true)}>
        Apply the sealed plan…
      </Button>
      <ConfirmApply
        open={open}
        seal={seal}
        losses={losses}
        busy={apply.isPending}
        error={apply.error && <ErrorNotice error={apply.error} title="The apply was not begun" />}
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
