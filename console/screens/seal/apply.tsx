import { useState } from 'preact/hooks'
import { calls, type Seal } from '../../client/api/calls.ts'
import { usePlanDocument, useSessionCall } from '../../client/sessions/use-session.ts'
import { Form, TextField } from '../../ui/controls.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ActionBadge, actionName, Badge, Button, ErrorNotice, Skeleton } from '../../ui/kit.tsx'
import { CHANGES } from '../../ui/plan/values.ts'
import { excerpt, formatNumber, plural } from '../../ui/words.ts'
import { Refused, useOpenSession } from '../session/open-session.tsx'
import { confirmationFor, findLosses, findRefusal, isConfirmed, type Losses } from './apply-readiness.ts'

/** Applies the saved plan, or shows the reason why that is not possible. */
export function Apply({ seal }: { seal: Seal }) {
  const { session, is_own } = useOpenSession()
  const refusal = findRefusal(session, is_own)
  if (!refusal) return <Ready seal={seal} />
  const isUsed = seal.reason === 'used'
  return (
    <Refused
      refusal={refusal}
      tone={isUsed ? 'neutral' : 'warn'}
      title={isUsed ? 'The saved plan was applied' : 'This plan cannot be applied now'}
    />
  )
}

function Ready({ seal }: { seal: Seal }) {
  const { session } = useOpenSession()
  const [open, setOpen] = useState(false)
  const plan = usePlanDocument(session.uuid, session.rounds.find(({ number }) => number === seal.round) ?? null)
  const apply = useSessionCall(session.uuid, calls.apply, () => setOpen(false))
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
      <ConfirmApply open={open} seal={seal} losses={losses} apply={apply} onClose={() => setOpen(false)} />
    </section>
  )
}

function summarise(summary: Record<string, number>): string {
  const parts = CHANGES.filter((action) => (summary[action] ?? 0) > 0).map(
    (action) => `${actionName(action)} ${formatNumber(summary[action] ?? 0)}`,
  )
  return parts.length === 0 ? 'It changes no resource.' : `It will ${parts.join(', ')}.`
}

interface ConfirmProps {
  open: boolean
  seal: Seal
  /** The losses; null when the plan cannot be read. */
  losses: Losses | null
  apply: ReturnType<typeof useSessionCall>
  onClose: () => void
}

const FORM = 'seal-confirm'

/** Asks for confirmation before the cloud is changed, with a typed text if data or access is lost. */
function ConfirmApply({ open, seal, losses, apply, onClose }: ConfirmProps) {
  const wanted = confirmationFor(losses)
  return (
    <Dialog
      open={open}
      title="Apply the saved plan?"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind={wanted === null ? 'primary' : 'danger'} type="submit" form={FORM} busy={apply.isPending}>
            {apply.isPending ? 'Starting…' : 'Apply'}
          </Button>
        </>
      }
    >
      <p>
        This changes the cloud as plan <code>{seal.plan_sha256.slice(0, 12)}</code> of round {seal.round} says. The plan
        can be applied only once, however the apply ends.
      </p>
      {losses === null && <p>It is not known what the plan destroys, because the plan cannot be read at the moment.</p>}
      {losses !== null && losses.destroyed.length > 0 && <Lost losses={losses} />}
      <Confirmation wanted={wanted} onConfirm={() => apply.mutate()} />
      {apply.error && <ErrorNotice error={apply.error} title="The apply did not start" />}
    </Dialog>
  )
}

/** Shows an empty field whenever the dialog opens, so that an old entry confirms nothing. */
function Confirmation({ wanted, onConfirm }: { wanted: string | null; onConfirm: () => void }) {
  const [typed, setTyped] = useState('')
  const [wrong, setWrong] = useState(false)
  return (
    <Form id={FORM} send={() => (isConfirmed(wanted, typed) ? onConfirm() : setWrong(true))}>
      {wanted !== null && (
        <TextField
          id="seal-typed"
          label={
            <>
              Type <code>{wanted}</code> to confirm
            </>
          }
          hint={/^\d+$/.test(wanted) ? 'The number of resources that are destroyed or replaced.' : undefined}
          error={wrong && !isConfirmed(wanted, typed) ? `This is not ${wanted}. Nothing was applied.` : undefined}
          value={typed}
          change={setTyped}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
        />
      )}
    </Form>
  )
}

const LISTED = 12

function Lost({ losses: { destroyed, critical } }: { losses: Losses }) {
  const listed = [...critical, ...destroyed.filter((resource) => !critical.includes(resource))].slice(0, LISTED)
  return (
    <div>
      <p>
        <b>{plural(destroyed.length, 'resource')} will be destroyed or replaced</b>
        {critical.length > 0 && `, ${critical.length} of them critical`}:
      </p>
      <ul class="seal-lost">
        {listed.map(({ action, address, deposed, is_critical, critical_reason }) => (
          <li key={`${address} ${deposed}`}>
            <ActionBadge action={action} />
            <span class="mono">{excerpt(address, 200)}</span>
            {is_critical && <Badge tone="bad">{critical_reason === 'access' ? 'grants access' : 'holds data'}</Badge>}
          </li>
        ))}
      </ul>
      {destroyed.length > listed.length && <p class="quiet">and {destroyed.length - listed.length} more</p>}
    </div>
  )
}
