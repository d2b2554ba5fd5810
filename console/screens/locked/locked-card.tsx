import { Link } from '@tanstack/react-router'
import { useState } from 'preact/hooks'
import type { SessionSummary } from '../../client/api/types.ts'
import { StatusBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Ago } from '../../ui/time/time.tsx'
import { CLOUDS } from '../../ui/words/names.ts'
import { repositoryName, shorten, visibleText } from '../../ui/words/text.ts'
import { useSetLock } from './use-set-lock.ts'
import { WhyLocked } from './why-locked.tsx'

const line = (text: string | null) => visibleText(shorten(text ?? '', 200).replaceAll(/\s+/g, ' '))

interface CardProps {
  session: SessionSummary
  mayUnlock: boolean
  onUnlocked: (title: string) => void
}

/** A locked session: what it is, why it is locked, and what can be done. */
export function LockedCard({ session, mayUnlock, onUnlocked }: CardProps) {
  const [asks, setAsks] = useState(false)
  const setLock = useSetLock()
  const title = line(session.first_query || 'Without a request')
  const { uri, root_path } = session.workspace
  const confirm = async () => {
    await setLock(session.uuid, false)
    onUnlocked(title)
  }
  return (
    <article class="card locked-card" aria-label={title}>
      <header class="locked-head">
        <h2>
          <Link to={`/sessions/${session.uuid}` as never}>{title}</Link>
        </h2>
        <StatusBadge status={session.current_status} />
      </header>
      <p class="page-kicker">
        <span>{line(repositoryName(uri))}</span>
        {root_path && <span class="mono">{line(root_path)}</span>}
        <span>{CLOUDS[session.provider] ?? session.provider}</span>
        <span>{line(session.username)}</span>
        <span>
          active <Ago at={session.updated_at} />
        </span>
      </p>
      <WhyLocked id={session.uuid} />
      <div class="notice-actions">
        <Link class="button button-primary" to={`/sessions/${session.uuid}/review` as never}>
          Review
        </Link>
        {mayUnlock && <Button onClick={() => setAsks(true)}>Unlock…</Button>}
      </div>
      <Confirm
        open={asks}
        title="Unlock this session?"
        action="Unlock"
        onClose={() => setAsks(false)}
        onConfirm={confirm}
      >
        <p>
          <b>{title}</b>
        </p>
        <UnlockMeans />
      </Confirm>
    </article>
  )
}

export const UnlockMeans = () => (
  <ul class="locked-means">
    <li>Whoever may apply in this session can then carry out its sealed plan, and merge its pull request.</li>
    <li>Nothing is applied or merged by itself, and the findings stay in the review.</li>
    <li>The next request of the session is reviewed again, and may lock it again.</li>
    <li>That you unlocked it is kept in the audit.</li>
  </ul>
)
