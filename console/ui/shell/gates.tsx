import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { usePlatform, useStore } from '../../client/platform.ts'
import { Button } from '../kit.tsx'

interface GateProps {
  title: string
  /** The label of the button. */
  action: string
  run: () => void
  children: ComponentChildren
}

/** Shows a page in front of the console, with one button. */
export const Gate = ({ title, action, run, children }: GateProps) => (
  <main class="gate">
    <h1>{title}</h1>
    {children}
    <Button kind="primary" onClick={run}>
      {action}
    </Button>
  </main>
)

/** Shows the console to signed-in users, and the sign-in to others. */
export function SignInGate({ children }: { children: ComponentChildren }) {
  const { signIn } = usePlatform()
  const state = useStore(signIn.state)
  const problem = useStore(signIn.problem)
  if (state !== 'out' || location.pathname.endsWith('/signed-in')) return <>{children}</>
  return (
    <Gate title="Platform" action="Sign in" run={signIn.start}>
      <p>Describe a change of your infrastructure in a sentence. Review the plan before anything changes.</p>
      <p role="alert">{problem}</p>
    </Gate>
  )
}

const TRY_AGAIN_MS = 5_000

/** Shows that the platform did not answer when the page was opened. */
export function Unavailable() {
  useEffect(() => {
    const look = () =>
      fetch('/console/config.json').then(
        ({ ok }) => ok && location.reload(),
        () => {},
      )
    const timer = setInterval(look, TRY_AGAIN_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <Gate title="The platform does not answer" action="Try now" run={() => location.reload()}>
      <p role="status">It may be starting. This page retries every five seconds.</p>
    </Gate>
  )
}
