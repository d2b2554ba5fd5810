import { Link, useLocation } from '@tanstack/react-router'
import type { Session } from '../../client/api/types.ts'
import type { LiveStatus } from '../../client/sessions/use-live-session.ts'
import { lastStatus } from '../../client/sessions/use-session.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'
import { nextStep } from './next-step.ts'

/** One line below the heading: what happens now, or what the session waits for. */
export function NextStepBar({ session, live }: { session: Session; live: LiveStatus | null }) {
  const here = useLocation({ select: ({ pathname }) => pathname.replace(/\/+$/, '') })
  const base = `/sessions/${session.uuid}`
  if (session.in_flight) {
    // On the screen of the rounds the round itself says it.
    if (here.endsWith(base)) return null
    const last = session.rounds.at(-1)
    const message = live?.message || (last && lastStatus(last)?.message) || 'It waits for its turn.'
    return (
      <p class="session-next session-next-accent" role="status">
        <span class="dot dot-live" aria-hidden="true" />
        <span>
          Round {last?.number ?? 1} runs: {shorten(visibleText(message), 160)}
        </span>
        <Link to={'/sessions/$sessionId' as never} params={{ sessionId: session.uuid } as never}>
          Watch it
        </Link>
      </p>
    )
  }
  const step = nextStep(session)
  if (!step) return null
  const isHere = here.endsWith(step.part === '' ? base : `${base}/${step.part}`)
  return (
    <p class={`session-next session-next-${step.tone}`}>
      <span>{step.text}</span>
      {!isHere && (
        <Link
          class="button button-small"
          to={`/sessions/$sessionId/${step.part}` as never}
          params={{ sessionId: session.uuid } as never}
          search={(step.round ? { round: step.round } : {}) as never}
        >
          {step.label}
        </Link>
      )}
    </p>
  )
}
