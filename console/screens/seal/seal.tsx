import { Empty } from '../../ui/notice.tsx'
import { Term } from '../../ui/term.tsx'
import { useSelectedRound } from '../session/selected-round.tsx'
import { useOpenSession } from '../session/session-context.ts'
import { SessionLink } from '../session/session-link.tsx'
import { Apply } from './apply.tsx'
import { isApplyRound } from './apply-outcome.ts'
import { ApplyRound } from './apply-round.tsx'
import { SealFacts } from './seal-facts.tsx'
import { Verify } from './verify.tsx'

/** What is sealed, whether it still is what was reviewed, and carrying it out. */
export function Screen() {
  const { session, is_own } = useOpenSession()
  const selected = useSelectedRound(isApplyRound)
  const { round } = selected
  const { seal } = session
  return (
    <section class="seal" aria-labelledby="seal-title">
      <header>
        <h2 id="seal-title">Seal and apply</h2>
        <p class="quiet">
          The <Term name="plan" /> that was reviewed is under <Term name="seal">seal</Term>: an apply carries out
          exactly it, once, or nothing.
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
        <Empty title="Nothing is sealed" actions={<SessionLink id={session.uuid}>See the rounds</SessionLink>}>
          A round seals its plan when the engine accepts the code and every check has passed.
          {session.in_flight ? ' One is under way.' : ' Ask for a change to get one.'}
        </Empty>
      )}
    </section>
  )
}
