import type { Seal } from '../../client/api/schemas.ts'
import { Badge, Origin } from '../../ui/badge.tsx'
import { Copy } from '../../ui/button.tsx'
import { Empty } from '../../ui/notice.tsx'
import { FirstOf } from '../../ui/table.tsx'
import { Term } from '../../ui/term.tsx'
import { Ago } from '../../ui/time.tsx'
import { formatMoment, shorten, visibleText } from '../../ui/words.ts'
import { useSelectedRound } from '../session/selected-round.tsx'
import { useOpenSession } from '../session/session-context.ts'
import { SessionLink } from '../session/session-link.tsx'
import { Apply } from './apply.tsx'
import { isApplyRound } from './apply-outcome.ts'
import { ApplyRound } from './apply-round.tsx'
import { Verify } from './verify.tsx'

export function Screen() {
  const { session, is_own } = useOpenSession()
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
      {round && <ApplyRound key={round.id} {...selected} session={session} round={round} />}
      {seal ? (
        <>
          <Apply session={session} seal={seal} isOwn={is_own} />
          <div class="seal-columns">
            <SealFacts sessionId={session.uuid} seal={seal} />
            <Verify session={session} seal={seal} isOwn={is_own} />
          </div>
        </>
      ) : (
        <Empty title="There is no saved plan" actions={<SessionLink id={session.uuid}>See the rounds</SessionLink>}>
          A round saves its plan when the engine accepts the code and every check has passed.
          {session.in_flight ? ' A round is running.' : ' Request a change to get one.'}
        </Empty>
      )}
    </section>
  )
}

export function SealFacts({ sessionId, seal }: { sessionId: string; seal: Seal }) {
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
          <SessionLink id={sessionId} part="review" search={{ round: seal.round }}>
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
          <Targets targets={seal.targets} />
        </dd>
      </dl>
      <Origin by="code" />
    </section>
  )
}

function Targets({ targets }: { targets: readonly string[] }) {
  if (targets.length === 0) return <>None: the plan covers the whole root.</>
  return (
    <FirstOf items={targets} count={5}>
      {(shown) => (
        <ul>
          {shown.map((target) => (
            <li key={target} class="mono">
              {shorten(visibleText(target), 300)}
            </li>
          ))}
        </ul>
      )}
    </FirstOf>
  )
}
