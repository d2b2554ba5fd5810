import { Link } from '@tanstack/react-router'
import { Notice } from '../../ui/notice.tsx'
import { visibleText } from '../../ui/words.ts'
import type { Refusal } from '../seal/apply-readiness.ts'
import { SessionLink } from './session-link.tsx'

interface RefusedProps {
  refusal: Refusal
  sessionId: string
  title: string
  tone?: 'neutral' | 'warn'
}

/** Why apply or merge is not possible now, and the way to a remedy. */
export const Refused = ({ refusal: { reason, advice, remedy }, sessionId, title, tone = 'warn' }: RefusedProps) => (
  <Notice
    tone={tone}
    title={title}
    actions={
      remedy === 'rounds' ? (
        <SessionLink class="button" id={sessionId}>
          Go to the rounds
        </SessionLink>
      ) : remedy === 'locked' ? (
        <Link class="button" to="/locked">
          Locked sessions
        </Link>
      ) : (
        remedy === 'start' && (
          <Link class="button" to="/">
            New request
          </Link>
        )
      )
    }
  >
    <p>{visibleText(reason)}</p>
    <p>{advice}</p>
  </Notice>
)
