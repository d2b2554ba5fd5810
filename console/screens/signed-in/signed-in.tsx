import { useEffect, useState } from 'preact/hooks'
import { usePlatform } from '../../data/platform.ts'
import { Button } from '../../kit/button.tsx'

/** Where the identity provider leads back to. */
export function Screen() {
  const { signIn } = usePlatform()
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    signIn.complete().then(
      (address) => location.replace(address),
      () => setFailed(true),
    )
  }, [signIn])
  if (!failed) return <main class="gate" aria-busy="true" />
  return (
    <main class="gate">
      <h1>The sign-in did not succeed</h1>
      <p role="alert">The identity provider did not confirm it, or the page was open for too long.</p>
      <Button kind="primary" onClick={() => void signIn.start()}>
        Sign in again
      </Button>
    </main>
  )
}
