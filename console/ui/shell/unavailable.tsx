import { useEffect } from 'preact/hooks'
import { Button } from '../button.tsx'

const TRY_AGAIN_MS = 5_000

/** The platform did not answer when the page was opened. */
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
      <p role="status">It may be starting. This page tries again by itself every five seconds.</p>
      <Button kind="primary" onClick={() => location.reload()}>
        Try now
      </Button>
    </main>
  )
}
