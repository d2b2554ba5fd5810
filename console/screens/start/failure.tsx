import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError, Unreachable } from '../../client/api/errors.ts'
import { usePlatform, useStore } from '../../client/platform.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'

/** Why the request was not taken, where it is not about a single field. */
export function Failure({ error }: { error: unknown }) {
  const { signIn } = usePlatform()
  const state = useStore(signIn.state)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (error) place.current?.scrollIntoView({ block: 'nearest' })
  }, [error])
  if (!error) return null
  return (
    <div ref={place}>
      {error instanceof ApiError && error.status === 401 ? (
        <Notice
          tone="bad"
          title="You are signed out"
          actions={state !== 'open' && <Button onClick={() => void signIn.start()}>Sign in again</Button>}
        >
          Nothing was sent, and nothing that you typed is lost. Sign in again, then send.
        </Notice>
      ) : error instanceof Unreachable ? (
        <Notice
          tone="bad"
          title="The platform did not answer"
          actions={<Link to="/sessions">Look at your sessions</Link>}
        >
          The request may have arrived all the same. Look whether there is a session for it before you send it again.
          What you typed is kept.
        </Notice>
      ) : (
        <ErrorNotice error={error} title="The request was not taken" />
      )}
    </div>
  )
}
