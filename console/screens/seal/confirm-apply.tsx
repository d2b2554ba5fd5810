import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { PlannedResource, Seal } from '../../client/api/schemas.ts'
import { ActionBadge, Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { plural, shorten, visibleText } from '../../ui/words.ts'
import { confirmationFor, isConfirmed, type Losses } from './apply-readiness.ts'

interface Props {
  open: boolean
  seal: Seal
  /** Null when the plan cannot be read. */
  losses: Losses | null
  busy: boolean
  error: ComponentChildren
  onConfirm: () => void
  onClose: () => void
}

const FORM = 'seal-confirm'

/** Asks before the cloud is changed; where data or access goes away, something has to be typed. */
export function ConfirmApply({ open, seal, losses, busy, error, onConfirm, onClose }: Props) {
  const wanted = confirmationFor(losses)
  return (
    <Dialog
      open={open}
      title="Apply the sealed plan?"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Not now</Button>
          <Button kind={wanted === null ? 'primary' : 'danger'} type="submit" form={FORM} busy={busy}>
            {busy ? 'Asking…' : 'Apply'}
          </Button>
        </>
      }
    >
      <p>
        The cloud is changed as the plan <code>{seal.plan_sha256.slice(0, 12)}</code> of round {seal.round} says. The
        plan is used up by this, however it ends.
      </p>
      {losses === null && <p>What it destroys is not known here, because the plan cannot be read at the moment.</p>}
      {losses !== null && losses.destroyed.length > 0 && <Lost losses={losses} />}
      <Confirmation wanted={wanted} onConfirm={onConfirm} />
      {error}
    </Dialog>
  )
}

/** Begins empty each time that the dialog opens, so that nobody confirms by an old entry. */
function Confirmation({ wanted, onConfirm }: { wanted: string | null; onConfirm: () => void }) {
  const [typed, setTyped] = useState('')
  const [wrong, setWrong] = useState(false)
  return (
    <form
      id={FORM}
      onSubmit={(event) => {
        event.preventDefault()
        if (isConfirmed(wanted, typed)) onConfirm()
        else setWrong(true)
      }}
    >
      {wanted !== null && (
        <Field
          id="seal-typed"
          label={
            <>
              Type <code>{wanted}</code> to confirm
            </>
          }
          hint={/^\d+$/.test(wanted) ? 'The number of resources that are destroyed or replaced.' : undefined}
          error={wrong && !isConfirmed(wanted, typed) ? `This is not ${wanted}. Nothing was applied.` : undefined}
        >
          {(control) => (
            <input
              {...control}
              value={typed}
              autoComplete="off"
              autoCapitalize="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          )}
        </Field>
      )}
    </form>
  )
}

const LISTED = 12

function Lost({ losses: { destroyed, critical } }: { losses: Losses }) {
  const others = destroyed.filter((resource) => !critical.includes(resource))
  const listed = [...critical, ...others].slice(0, LISTED)
  return (
    <div>
      <p>
        <b>{plural(destroyed.length, 'resource')} will be destroyed or replaced</b>
        {critical.length > 0 && `, ${critical.length} of them critical`}:
      </p>
      <ul class="seal-lost">
        {listed.map((resource) => (
          <LostRow key={`${resource.address} ${resource.deposed}`} resource={resource} />
        ))}
      </ul>
      {destroyed.length > listed.length && <p class="quiet">and {destroyed.length - listed.length} more</p>}
    </div>
  )
}

const LostRow = ({ resource: { action, address, is_critical, critical_reason } }: { resource: PlannedResource }) => (
  <li>
    <ActionBadge action={action} />
    <span class="mono">{shorten(visibleText(address), 200)}</span>
    {is_critical && <Badge tone="bad">{critical_reason === 'access' ? 'grants access' : 'holds data'}</Badge>}
  </li>
)
