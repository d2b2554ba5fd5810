import { usePlatform, useStore } from '../../client/platform.ts'
import { Button } from '../button.tsx'
import { Elapsed } from '../time/time.tsx'

/** What concerns every screen: no connection, and a sign-in that ended. What was typed stays where it is. */
export function Banners() {
  const { api, signIn } = usePlatform()
  const connection = useStore(api.connection.state)
  const state = useStore(signIn.state)
  const problem = useStore(signIn.problem)
  return (
    <div class="banners" aria-live="polite">
      {!connection.online && (
        <p class="banner banner-bad">
          No connection to the platform for <Elapsed since={new Date(connection.since).toISOString()} until={null} />.
          It is tried again by itself; nothing that runs is lost.
        </p>
      )}
      {state === 'ended' && (
        <p class="banner banner-warn">
          Your sign-in has ended. What you typed is kept. {problem}
          <Button small onClick={() => void signIn.start()}>
            Sign in again
          </Button>
        </p>
      )}
    </div>
  )
}
