import { calls, type Seal } from '../../client/api/calls.ts'
import { hasPanelRole, useMe } from '../../client/platform.ts'
import { useSessionCall } from '../../client/sessions/use-session.ts'
import { Badge, Button, Copy, Empty, ErrorNotice, Origin, Term, type Tone } from '../../ui/kit.tsx'
import { FirstOf } from '../../ui/table.tsx'
import { Ago } from '../../ui/time.tsx'
import { excerpt, formatMoment, visibleText } from '../../ui/words.ts'
import { SessionLink, useOpenSession, useSelectedRound } from '../session/open-session.tsx'
import { Apply } from './apply.tsx'
import { isApplyRound } from './apply-outcome.ts'
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
const OUTCOMES: Record<Check['outcome'], [sign: string, word: string, tone: Tone]> = {
  holds: ['✓', 'holds', 'good'],
  broken: ['✗', 'broken', 'bad'],
  unknown: ['?', 'unknown', 'neutral'],
}

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
          const [sign, word, tone] = check ? OUTCOMES[check.outcome] : ['·', 'not checked', 'neutral' as const]
          return (
            <li key={name}>
              <Badge tone={tone} sign={sign}>
                {word}
              </Badge>
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
