import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../../client/api/errors.ts'
import { usePlatform, useStore } from '../../client/platform.ts'
import { Button } from '../../ui/button.tsx'
import { visibleText } from '../../ui/words.ts'

/** Handles the page to which the identity provider redirects. */
export function Screen() {
  const { signIn } = usePlatform()
  const problem = useStore(signIn.problem)
  const [failed, setFailed] = useState<string | null>(null)
  useEffect(() => {
    signIn.complete().then(
      (address) => location.replace(address),
      (error: unknown) => setFailed(messageOf(error)),
    )
  }, [signIn])
  if (failed === null) return <main class="gate" aria-busy="true" />
  return (
    <main class="gate">
      <h1>The sign-in did not succeed</h1>
      <p role="alert">{visibleText(problem ?? failed)}</p>
      <Button kind="primary" onClick={() => void signIn.start()}>
        Sign in again
      </Button>
    </main>
  )
}
