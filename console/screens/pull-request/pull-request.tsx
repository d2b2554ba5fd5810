import { Badge, Origin } from '../../ui/badge.tsx'
import { Term } from '../../ui/term.tsx'
import { visibleText } from '../../ui/words.ts'
import { useOpenSession } from '../session/session-context.ts'
import { SessionLink } from '../session/session-link.tsx'
import { Merge, PullRequestLink } from './merge.tsx'
import { listPullRequests, type Opened } from './merge-readiness.ts'
import { Open } from './open.tsx'

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
            <SessionLink id={sessionId} search={{ round }}>
              round {round}
            </SessionLink>
          </Badge>
        </li>
      ))}
    </ul>
  </section>
)

/** What the description of a pull request will contain, before there is one. */
const Description = ({ hasPlan }: { hasPlan: boolean }) => (
  <section class="card seal-card" aria-labelledby="pull-request-contents">
    <h3 id="pull-request-contents">What its description contains</h3>
    <ul class="pull-request-contents">
      <li>
        Title and summary <Origin by="model" />
        <span class="quiet small seal-block">
          Code writes both from the requests when the model takes longer than 20 seconds, and the summary says so.
        </span>
      </li>
      <li>
        What the <Term name="plan" /> changes, with moves, imports and forgotten objects <Origin by="code" />
        {!hasPlan && <span class="quiet small seal-block">There is no plan in this session yet.</span>}
      </li>
      <li>
        <Term name="impact">Impact</Term>, <Term name="compliance" /> and the cost estimate <Origin by="code" />
      </li>
      <li>
        Assumptions <Origin by="model" />
      </li>
      <li>
        What would change outside the <Term name="targets" />, and drift that was found <Origin by="code" />
      </li>
      <li>
        How to roll back each kind of change, before and after the plan is applied <Origin by="code" />
      </li>
      <li>
        Which session it came from <Origin by="code" />
      </li>
    </ul>
    <p class="quiet">
      Text from requests, plans and models is put in as plain text: no link, mention or command in it works. A part that
      cannot be read is named as missing.
    </p>
  </section>
)
