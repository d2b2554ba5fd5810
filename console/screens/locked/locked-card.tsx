import { useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import type { SessionSummary } from '../../client/api/schemas.ts'
import { usePlatform } from '../../client/platform.ts'
import { refreshSession } from '../../client/sessions/use-session.ts'
import { StatusBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Ago } from '../../ui/time.tsx'
import { CLOUDS, repositoryName, shorten, visibleText } from '../../ui/words.ts'
import { SessionLink } from '../session/session-link.tsx'
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
          <SessionLink id={session.uuid}>{title}</SessionLink>
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
        <SessionLink class="button button-primary" id={session.uuid} part="review">
          Review
        </SessionLink>
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

const UnlockMeans = () => (
  <ul class="locked-means">
    <li>Whoever may apply in this session can then carry out its sealed plan, and merge its pull request.</li>
    <li>Nothing is applied or merged by itself, and the findings stay in the review.</li>
    <li>The next request of the session is reviewed again, and may lock it again.</li>
    <li>That you unlocked it is kept in the audit.</li>
  </ul>
)

/** Answers a function that locks or unlocks a session. Its errors are those of the call. */
export function useSetLock(): (id: string, locked: boolean) => Promise<void> {
  const { api } = usePlatform()
  const client = useQueryClient()
  return async (id, locked) => {
    await calls.setLock(api, { params: { session_id: id }, body: { locked } })
    await refreshSession(client, id)
  }
}
