import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { usePlatform, useStore } from '../../client/platform.ts'
import { Button } from '../button.tsx'

/** Shows the console to signed-in users, and the sign-in to others. */
export function SignInGate({ children }: { children: ComponentChildren }) {
  const { signIn } = usePlatform()
  const state = useStore(signIn.state)
  const problem = useStore(signIn.problem)
  if (state !== 'out' || location.pathname.endsWith('/signed-in')) return <>{children}</>
  return (
    <main class="gate">
      <h1>Platform</h1>
      <p>Describe a change of your infrastructure in a sentence. Review the plan before anything changes.</p>
      <p role="alert">{problem}</p>
      <Button kind="primary" onClick={() => void signIn.start()}>
        Sign in
      </Button>
    </main>
  )
}

const TRY_AGAIN_MS = 5_000

/** Shows that the platform did not answer when the page was opened. */
export function Unavailable() {
  useEffect(() => {
    const timer = setInterval(
      () =>
        fetch('/console/config.json').then(
          ({ ok }) => ok && location.reload(),
          () => {},
        ),
      TRY_AGAIN_MS,
    )
    return () => clearInterval(timer)
  }, [])
  return (
    <main class="gate">
      <h1>The platform does not answer</h1>
      <p role="status">It may be starting. This page retries every five seconds.</p>
      <Button kind="primary" onClick={() => location.reload()}>
        Try now
      </Button>
    </main>
  )
}
