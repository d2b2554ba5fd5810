import { Link } from '@tanstack/react-router'
import { Badge } from '../../ui/badge.tsx'
import { visibleText } from '../../ui/words/text.ts'
import { useOpenSession } from '../session/context.ts'
import { Description } from './description.tsx'
import { Merge } from './merge.tsx'
import { listPullRequests, type Opened } from './merge-readiness.ts'
import { Open } from './open.tsx'
import { PullRequestLink } from './pull-request-link.tsx'

/** The way of the code from the branch of the session into the repository. */
export function Screen() {
  const { session, is_own } = useOpenSession()
  const opened = listPullRequests(session)
  const [newest, ...older] = opened
  return (
    <section class="pull-request" aria-labelledby="pull-request-title">
      <header>
        <h2 id="pull-request-title">Pull request</h2>
        <p class="quiet">
          Brings the code from the branch <code>{visibleText(session.workspace.branch)}</code> into the default branch
          of the repository. Only code that a round has reviewed is merged.
        </p>
      </header>
      {newest && <Merge key={newest.pull_request.url} session={session} opened={newest} isOwn={is_own} />}
      <Open session={session} newest={newest ?? null} isOwn={is_own} />
      {older.length > 0 && <Older opened={older} sessionId={session.uuid} />}
      <Description hasPlan={session.rounds.some(({ plans }) => plans.length > 0)} />
    </section>
  )
}

const Older = ({ opened, sessionId }: { opened: readonly Opened[]; sessionId: string }) => (
  <section class="card">
    <h3>Opened before</h3>
    <ul class="pull-request-list">
      {opened.map(({ pull_request, round }) => (
        <li key={pull_request.url}>
          <PullRequestLink pull_request={pull_request} />
          <Badge>
            <Link to={'/sessions/$sessionId' as never} params={{ sessionId } as never} search={{ round } as never}>
              round {round}
            </Link>
          </Badge>
        </li>
      ))}
    </ul>
  </section>
)
