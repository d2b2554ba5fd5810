import type { User } from '../../client/api/schemas.ts'
import { usePlatform, useStore } from '../../client/platform.ts'
import { useMe } from '../../client/use-me.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { visibleText } from '../../ui/words.ts'

const OPERATION: Record<User['operation_role'], string> = {
  developer: 'May ask for changes and imports, open and merge pull requests, and apply. May not ask for drift.',
  devops: 'May do everything in sessions of their own: changes, drift, imports, pull requests and apply.',
}
const PANEL: Record<NonNullable<User['panel_role']> | 'none', string> = {
  none: 'Sees only sessions of their own.',
  viewer: 'May read the sessions of all people, and the record of who did what.',
  editor: 'May read the sessions of all people, and lock, unlock and stop them.',
  admin: 'May read, lock, unlock and stop the sessions of all people, and assign roles.',
}

/** Who is signed in, and what they may do. */
export function Account() {
  const { signIn } = usePlatform()
  const state = useStore(signIn.state)
  const me = useMe()
  return (
    <section class="card settings-part" aria-labelledby="settings-account">
      <h2 id="settings-account">Signed in</h2>
      {me.data ? <Facts user={me.data} /> : !me.error && <Skeleton lines={4} />}
      {me.error && (
        <ErrorNotice error={me.error} title="Who you are could not be read" retry={() => void me.refetch()} />
      )}
      {state === 'open' ? (
        <p class="quiet small">
          Sign-in is not set up here: the platform takes every request as one of the local developer.
        </p>
      ) : (
        <p>
          <Button onClick={() => void signIn.end()}>Sign out</Button>
        </p>
      )}
    </section>
  )
}

function Facts({ user }: { user: User }) {
  const panel = user.panel_role ?? 'none'
  return (
    <>
      <dl class="settings-facts">
        <dt>Name</dt>
        <dd>{visibleText(user.display_name || 'not given')}</dd>
        <dt>E-mail</dt>
        <dd>{visibleText(user.email || 'not given')}</dd>
        <dt>Operation role</dt>
        <dd>
          <Badge tone="accent">{user.operation_role}</Badge> <span class="quiet">{OPERATION[user.operation_role]}</span>
        </dd>
        <dt>Panel role</dt>
        <dd>
          <Badge tone={panel === 'none' ? 'neutral' : 'accent'}>{panel}</Badge>{' '}
          <span class="quiet">{PANEL[panel]}</span>
        </dd>
      </dl>
      <p class="quiet small">Roles are assigned by administrators. New ones are in force from your next request.</p>
    </>
  )
}
