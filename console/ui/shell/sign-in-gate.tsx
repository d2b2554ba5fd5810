import type { ComponentChildren } from 'preact'
import { usePlatform, useStore } from '../../client/platform.ts'
import { Button } from '../button.tsx'

/** Shows the console to whoever is signed in, and to others the way to sign in. */
export function SignInGate({ children }: { children: ComponentChildren }) {
  const { signIn } = usePlatform()
  const state = useStore(signIn.state)
  const problem = useStore(signIn.problem)
  if (state !== 'out' || location.pathname.endsWith('/signed-in')) return <>{children}</>
  return (
    <main class="gate">
      <h1>Platform</h1>
      <p>Write in a sentence what should change in your infrastructure. See the plan before anything happens.</p>
      <p role="alert">{problem}</p>
      <Button kind="primary" onClick={() => void signIn.start()}>
        Sign in
      </Button>
    </main>
  )
}
