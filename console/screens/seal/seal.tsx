import { useState } from 'preact/hooks'
import { calls, type Seal } from '../../client/api/client.ts'
import { hasPanelRole, useMe } from '../../client/platform.ts'
import { usePlanDocument, useSessionCall } from '../../client/sessions/use-session.ts'
import { Form, TextField } from '../../ui/controls.tsx'
import {
  ActionBadge,
  Ago,
  actionName,
  Badge,
  Button,
  Copy,
  Dialog,
  Empty,
  ErrorNotice,
  Origin,
  SignBadge,
  Skeleton,
  Term,
} from '../../ui/kit.tsx'
import { CHANGES } from '../../ui/plan/values.ts'
import { FirstOf } from '../../ui/table.tsx'
import { excerpt, formatMoment, formatNumber, plural, visibleText } from '../../ui/words.ts'
import { Refused, SessionLink, useOpenSession, useSelectedRound } from '../session/open-session.tsx'
import { isApplyRound } from './apply-outcome.ts'
import { confirmationFor, findLosses, findRefusal, isConfirmed, type Losses } from './apply-readiness.ts'
import { ApplyRound } from './apply-round.tsx'

export function Screen() {
  const { session } = useOpenSession()
  const selected = useSelectedRound(isApplyRound)
  const { round } = selected
  const { seal } = session
  return (
    <section class="seal" aria-labelledby="seal-title">
      <header>
        <h2 id="seal-title">Saved plan</h2>
        <p class="quiet">
          The reviewed <Term name="plan" /> is stored as the <Term name="saved plan" />: an apply carries out exactly
          this plan, once, or nothing.
        </p>
      </header>
      {round && <ApplyRound key={round.id} {...selected} round={round} />}
      {seal ? (
        <>
          <Apply seal={seal} />
          <div class="seal-columns">
            <SealFacts seal={seal} />
            <Verify seal={seal} />
          </div>
        </>
      ) : (
        <Empty title="There is no saved plan" actions={<SessionLink>See the rounds</SessionLink>}>
          A round saves its plan when the engine accepts the code and every check has passed.
          {session.in_flight ? ' A round is running.' : ' Request a change to get one.'}
        </Empty>
      )}
    </section>
  )
}

function SealFacts({ seal }: { seal: Seal }) {
  const { engine, state } = seal
  return (
    <section class="card seal-card" aria-labelledby="seal-facts">
      <header class="seal-head">
        <h3 id="seal-facts">The saved plan</h3>
        {seal.valid ? <Badge tone="good">valid</Badge> : <Badge tone="warn">no longer valid</Badge>}
      </header>
      {!seal.valid && seal.explanation && <p>{visibleText(seal.explanation)}</p>}
      <dl class="seal-facts">
        <dt>Saved</dt>
        <dd>
          <Ago at={seal.sealed_at} />, by{' '}
          <SessionLink part="review" search={{ round: seal.round }}>
            round {seal.round}
          </SessionLink>
          <span class="quiet small seal-block">{formatMoment(seal.sealed_at)}</span>
        </dd>
        <dt>Fingerprint</dt>
        <dd>
          <code>{seal.plan_sha256.slice(0, 16)}…</code> <Copy text={seal.plan_sha256} label="Copy all" />
          <span class="quiet small seal-block">SHA-256 of the plan file</span>
        </dd>
        <dt>Code</dt>
        <dd>
          commit <code title={seal.commit}>{seal.commit.slice(0, 12)}</code>
        </dd>
        <dt>Engine</dt>
        <dd>{engine ? `${visibleText(engine.name)} ${visibleText(engine.version)}` : 'Unknown'}</dd>
        <dt>State</dt>
        <dd>
          {state ? `serial ${state.serial}` : 'Unknown'}
          {state?.lineage && <span class="quiet small seal-block mono">{visibleText(state.lineage)}</span>}
        </dd>
        <dt>Stored copy</dt>
        <dd>{seal.has_copy ? 'Encrypted, in the object store' : 'None; the plan is on the disk of a worker'}</dd>
        <dt>
          <Term name="targets">Targets</Term>
        </dt>
        <dd>
          {seal.targets.length === 0 ? 'None: the plan covers the whole root.' : <Targets targets={seal.targets} />}
        </dd>
      </dl>
      <Origin by="code" />
    </section>
  )
}

const Targets = ({ targets }: { targets: readonly string[] }) => (
  <FirstOf items={targets} count={5}>
    {(shown) => (
      <ul>
        {shown.map((target) => (
          <li key={target} class="mono">
            {excerpt(target, 300)}
          </li>
        ))}
      </ul>
    )}
  </FirstOf>
)

type Check = Seal['checks'][number]

const QUESTIONS: Record<Check['name'], string> = {
  commit: 'Is the code unchanged since the plan?',
  engine: 'Is the engine the same as for the plan?',
  state: 'Is the state unchanged since the plan?',
  reviewed: 'Did the round that saved it complete?',
  lock: 'Is the session unlocked?',
  copy: 'Is there an encrypted copy?',
}
const OUTCOMES = {
  holds: ['✓', 'holds', 'good'],
  broken: ['✗', 'broken', 'bad'],
  unknown: ['?', 'unknown', 'neutral'],
} as const

/** Verifies the saved plan, and shows the last verification. */
function Verify({ seal }: { seal: Seal }) {
  const { session, is_own } = useOpenSession()
  const me = useMe()
  const verify = useSessionCall(session.uuid, calls.verifySeal)
  const checks = verify.data?.checks ?? seal.checks
  const verifiedAt = verify.data?.verified_at ?? seal.verified_at
  const may = is_own || hasPanelRole(me.data, 'editor')
  return (
    <section class="card seal-card" aria-labelledby="seal-verify">
      <header class="seal-head">
        <h3 id="seal-verify">Is it still valid?</h3>
        {may && (
          <Button small busy={verify.isPending} onClick={() => verify.mutate()}>
            {verify.isPending ? 'Verifying…' : 'Verify now'}
          </Button>
        )}
      </header>
      <p class="quiet" role="status">
        {verifiedAt === null ? (
          'Not verified yet. A verification changes nothing, and an apply verifies the plan again.'
        ) : (
          <>
            Verified <Ago at={verifiedAt} />.{' '}
            {seal.reason === 'used' ? 'The plan has been applied since.' : 'An apply verifies the plan again.'}
          </>
        )}
      </p>
      {!may && <p class="quiet">Its owner and users with the panel role editor can verify it.</p>}
      {verify.error && (
        <ErrorNotice error={verify.error} title="The plan could not be verified" retry={() => verify.mutate()} />
      )}
      <ul class="seal-checks" aria-label="Checks of the saved plan">
        {(Object.keys(QUESTIONS) as Check['name'][]).map((name) => {
          const check = checks.find((other) => other.name === name)
          return (
            <li key={name}>
              <SignBadge of={check ? OUTCOMES[check.outcome] : ['·', 'not checked', 'neutral']} />
              <div>
                {QUESTIONS[name]}
                {check && <span class="quiet small seal-block">{visibleText(check.explanation)}</span>}
              </div>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** Applies the saved plan, or shows the reason why that is not possible. */
function Apply({ seal }: { seal: Seal }) {
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
        {losses !== null && losses.destroyed.length > 0 && (
          <p class="seal-warning">{describeLosses(losses)} You will be asked to type a confirmation.</p>
        )}
      </div>
      <Button kind={losses?.destroyed.length === 0 ? 'primary' : 'danger'} onClick={() => setOpen(true)}>
        Apply the saved plan…
      </Button>
      <ConfirmApply open={open} seal={seal} losses={losses} apply={apply} onClose={() => setOpen(false)} />
    </section>
  )
}

function describeLosses({ destroyed, critical, unknown }: Losses): string {
  if (critical.length > 0) return 'It destroys or replaces something that holds data or grants access.'
  const resources = plural(destroyed.length, 'resource')
  return unknown.length > 0
    ? `It destroys or replaces ${resources}, and it cannot be told whether data or access is lost.`
    : `It destroys or replaces ${resources}.`
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

/** Asks for confirmation before the cloud is changed, with a typed text if anything is lost. */
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

function Lost({ losses: { destroyed, critical, unknown } }: { losses: Losses }) {
  const listed = [...new Set([...critical, ...unknown, ...destroyed])].slice(0, 12)
  return (
    <div>
      <p>
        <b>{plural(destroyed.length, 'resource')} will be destroyed or replaced</b>
        {critical.length > 0 && `, ${critical.length} of them critical`}
        {unknown.length > 0 && `, ${unknown.length} of them of unknown content`}:
      </p>
      <ul class="seal-lost">
        {listed.map((resource) => (
          <li key={`${resource.address} ${resource.deposed}`}>
            <ActionBadge action={resource.action} />
            <span class="mono">{excerpt(resource.address, 200)}</span>
            {resource.is_critical && (
              <Badge tone="bad">{resource.critical_reason === 'access' ? 'grants access' : 'holds data'}</Badge>
            )}
            {unknown.includes(resource) && <Badge tone="bad">may hold data</Badge>}
          </li>
        ))}
      </ul>
      {destroyed.length > listed.length && <p class="quiet">and {destroyed.length - listed.length} more</p>}
    </div>
  )
}
