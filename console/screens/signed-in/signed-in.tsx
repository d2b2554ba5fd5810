import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../../client/api/client.ts'
import { usePlatform, useStore } from '../../client/platform.ts'
import { Gate } from '../../ui/shell/frame.tsx'
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
    <Gate title="The sign-in did not succeed" action="Sign in again" run={signIn.start}>
      <p role="alert">{visibleText(problem ?? failed)}</p>
    </Gate>
  )
}
