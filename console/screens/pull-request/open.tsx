import { useMutation } from '@tanstack/preact-query'
import { calls } from '../../client/api/calls.ts'
import { ApiError } from '../../client/api/errors.ts'
import type { Session } from '../../client/api/schemas.ts'
import { usePlatform } from '../../client/platform.ts'
import { hasEnded, useRefreshSession } from '../../client/sessions/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import { Elapsed } from '../../ui/time.tsx'
import { type Opened, roundsSince } from './merge-readiness.ts'

interface Props {
  session: Session
  newest: Opened | null
  isOwn: boolean
}

/** Opens a pull request, or says why there is none to open. */
export function Open({ session, newest, isOwn }: Props) {
  const { api } = usePlatform()
  const refresh = useRefreshSession()
  const open = useMutation({
    mutationFn: () => calls.openPullRequest(api, { body: { session_id: session.uuid } }),
    onSettled: () => refresh(session.uuid),
  })
  const hasCode = session.rounds.some(({ code_changes }) => code_changes.length > 0)
  const isRunning = session.in_flight || !session.rounds.some(hasEnded)
  return (
    <section class="card seal-card" aria-labelledby="pull-request-open">
      <h3 id="pull-request-open">{newest ? 'Open another one' : 'Open a pull request'}</h3>
      <p>{describe(session, newest)}</p>
      {!hasCode && (
        <Notice tone="warn">No round of this session changed code, so the branch may have nothing new.</Notice>
      )}
      {isRunning && isOwn && <Notice>A round runs. What is opened now would not hold what it is still writing.</Notice>}
      {isOwn ? (
        <div class="notice-actions">
          <Button kind={newest ? 'plain' : 'primary'} busy={open.isPending} onClick={() => open.mutate()}>
            {open.isPending ? 'Opening…' : 'Open a pull request'}
          </Button>
        </div>
      ) : (
        <p class="quiet">This is the session of somebody else: only its owner may open a pull request.</p>
      )}
      <div role="status">
        {open.isPending && (
          <p>
            A model writes title and summary, and the git host is asked. This takes up to 50 seconds;{' '}
            <Elapsed since={new Date(open.submittedAt).toISOString()} until={null} /> so far. You can leave this page.
          </p>
        )}
        {open.data && (
          <p>
            Pull request {open.data.id} is {String(open.data.status).slice(0, 40)}.
          </p>
        )}
      </div>
      {open.error && (
        <>
          <ErrorNotice error={open.error} title="The pull request was not opened" retry={() => open.mutate()} />
          {!(open.error instanceof ApiError && open.error.status < 500) && (
            <p class="quiet">It may have been opened all the same: look at the git host before you try again.</p>
          )}
        </>
      )}
    </section>
  )
}

function describe(session: Session, newest: Opened | null): string {
  if (!newest)
    return 'From the branch of this session into the default branch, with a description of what was reviewed.'
  return roundsSince(session, newest) > 0
    ? 'Rounds came after the newest one. While it is open, its branch has their code already; its description has not.'
    : 'The newest one is up to date. Another one is of use when it was closed.'
}
