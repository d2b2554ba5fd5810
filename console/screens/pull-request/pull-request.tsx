import { useQuery } from '@tanstack/preact-query'
import { useRef, useState } from 'preact/hooks'
import { ApiError, calls, messageOf, type Session } from '../../client/api/client.ts'
import { usePlatform } from '../../client/platform.ts'
import { hasEnded, sessionKey, useSessionCall } from '../../client/sessions/use-session.ts'
import { readStored, writeStored } from '../../client/stored.ts'
import { Badge, Button, Confirm, Elapsed, ErrorNotice, Notice, Origin, Term } from '../../ui/kit.tsx'
import { visibleText } from '../../ui/words.ts'
import { Refused, SessionLink, useOpenSession } from '../session/open-session.tsx'
import {
  adviseOnMerge,
  findMergeRefusal,
  hostName,
  listPullRequests,
  METHODS,
  type MergeReadiness,
  type OpenedPullRequest,
  type PullRequest,
  pauseBeforeAsking,
  READINESS,
  readinessOf,
  roundsSince,
  safeLink,
} from './merge-readiness.ts'

/** Shows the pull requests from the branch of the session into the repository. */
export function Screen() {
  const { session } = useOpenSession()
  const opened = listPullRequests(session)
  const [newest, ...older] = opened
  return (
    <section class="pull-request" aria-labelledby="pull-request-title">
      <header>
        <h2 id="pull-request-title">Pull request</h2>
        <p class="quiet">
          Merges the code of branch <code>{visibleText(session.workspace.branch)}</code> into the default branch of the
          repository. Only reviewed code is merged.
        </p>
      </header>
      {newest && <Merge key={newest.pull_request.url} opened={newest} />}
      <Open newest={newest ?? null} />
      {older.length > 0 && <Older opened={older} />}
      <Description hasPlan={session.rounds.some(({ plans }) => plans.length > 0)} />
    </section>
  )
}

const Older = ({ opened }: { opened: readonly OpenedPullRequest[] }) => (
  <section class="card">
    <h3>Opened before</h3>
    <ul class="pull-request-list">
      {opened.map(({ pull_request, round }) => (
        <li key={pull_request.url}>
          <PullRequestLink pull_request={pull_request} />
          <Badge>
            <SessionLink search={{ round }}>round {round}</SessionLink>
          </Badge>
        </li>
      ))}
    </ul>
  </section>
)

/** Shows the contents of a pull request description. */
const Description = ({ hasPlan }: { hasPlan: boolean }) => (
  <section class="card seal-card" aria-labelledby="pull-request-contents">
    <h3 id="pull-request-contents">Contents of the description</h3>
    <ul class="pull-request-contents">
      <li>
        Title and summary <Origin by="model" />
        <span class="quiet small seal-block">
          Code derives both from the requests when the model takes longer than 20 seconds, and the summary says so.
        </span>
      </li>
      <li>
        Changes of the <Term name="plan" />, with moves, imports and forgotten objects <Origin by="code" />
        {!hasPlan && <span class="quiet small seal-block">There is no plan in this session yet.</span>}
      </li>
      <li>
        <Term name="impact">Impact</Term>, <Term name="compliance" /> and the cost estimate <Origin by="code" />
      </li>
      <li>
        Assumptions <Origin by="model" />
      </li>
      <li>
        Changes outside the <Term name="targets" />, and drift <Origin by="code" />
      </li>
      <li>
        How to roll back each kind of change, before and after the plan is applied <Origin by="code" />
      </li>
      <li>
        The session <Origin by="code" />
      </li>
    </ul>
    <p class="quiet">
      Text from requests, plans and models is inserted as plain text: links, mentions and commands in it have no effect.
      A part that cannot be read is listed as missing.
    </p>
  </section>
)

/** Opens a pull request, or shows the reason why there is none to open. */
function Open({ newest }: { newest: OpenedPullRequest | null }) {
  const { session, is_own } = useOpenSession()
  const open = useSessionCall(session.uuid, calls.openPullRequest)
  const hasCode = session.rounds.some(({ code_changes }) => code_changes.length > 0)
  const isRunning = session.in_flight || !session.rounds.some(hasEnded)
  return (
    <section class="card seal-card" aria-labelledby="pull-request-open">
      <h3 id="pull-request-open">{newest ? 'Open another pull request' : 'Open a pull request'}</h3>
      <p>{describe(session, newest)}</p>
      {!hasCode && (
        <Notice tone="warn">No round of this session changed code, so the branch may contain nothing new.</Notice>
      )}
      {isRunning && is_own && (
        <Notice>A round is running. A pull request opened now would not contain its later changes.</Notice>
      )}
      {is_own ? (
        <div class="notice-actions">
          <Button kind={newest ? 'plain' : 'primary'} busy={open.isPending} onClick={() => open.mutate()}>
            {open.isPending ? 'Opening…' : 'Open a pull request'}
          </Button>
        </div>
      ) : (
        <p class="quiet">This session belongs to somebody else: only its owner may open a pull request.</p>
      )}
      <div role="status">
        {open.isPending && (
          <p>
            A model writes title and summary. This takes up to 50 seconds;{' '}
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
            <p class="quiet">It may have been opened all the same: check the git host before you try again.</p>
          )}
        </>
      )}
    </section>
  )
}

function describe(session: Session, newest: OpenedPullRequest | null): string {
  if (!newest)
    return 'From the branch of this session into the default branch, with a description of what was reviewed.'
  return roundsSince(session, newest) > 0
    ? 'Further rounds followed the newest one. Its branch already has their code; its description does not.'
    : 'The newest one is up to date. Open another one only if it was closed.'
}

/** Shows the newest pull request, its state as far as the platform knows it, and the merge. */
function Merge({ opened }: { opened: OpenedPullRequest }) {
  const { session, is_own } = useOpenSession()
  const { pull_request, round } = opened
  const kept = `platform.draft.merged.${session.uuid}.${pull_request.number}`
  const [merged, setMerged] = useState(() => readStored(sessionStorage, kept) === true)
  const [asking, setAsking] = useState(false)
  const merge = useSessionCall(session.uuid, calls.mergePullRequest, () => {
    writeStored(sessionStorage, kept, true)
    setMerged(true)
  })
  const refusal = findMergeRefusal(session, is_own)
  const host = useMergeReadiness(session.uuid, pull_request.number, is_own && !merged && !refusal)
  const isDone = merged || host.data?.status === 'merged'
  return (
    <section class="card seal-card" aria-labelledby="pull-request-newest">
      <h3 id="pull-request-newest">
        <PullRequestLink pull_request={pull_request} />
      </h3>
      <p class="quiet">
        Opened after round {round} at {hostName(pull_request.provider)}.
      </p>
      {isDone && (
        <Notice tone="good" title="Merged">
          The code is in the default branch. The cloud is changed by a separate apply: see Saved plan.
        </Notice>
      )}
      {!isDone && refusal && <Refused refusal={refusal} title="It cannot be merged now" />}
      {!isDone && !refusal && <Readiness host={host} />}
      {!isDone && !refusal && (
        <div class="notice-actions">
          <Button
            kind={host.data?.status === 'blocked' ? 'plain' : 'primary'}
            busy={merge.isPending}
            onClick={() => setAsking(true)}
          >
            {merge.isPending ? 'Merging…' : 'Merge…'}
          </Button>
        </div>
      )}
      <p role="status" class={merge.isPending ? undefined : 'unseen'}>
        {merge.isPending && 'Merging takes up to 50 seconds.'}
      </p>
      {merge.error && !isDone && <MergeFailed error={merge.error} />}
      <Confirm
        open={asking}
        title={`Merge pull request ${pull_request.number}?`}
        action="Merge"
        onClose={() => setAsking(false)}
        onConfirm={async () => merge.mutate()}
      >
        <p>
          The code of <code>{visibleText(session.workspace.branch)}</code> is merged into the default branch, only if
          the branch is where the last completed round left it.
        </p>
        {host.data?.method && <p>{METHODS[host.data.method]}</p>}
        <p class="quiet">This changes the repository, not the cloud.</p>
      </Confirm>
    </section>
  )
}

/** Reads what the git host says about the merge, again and again while the page is seen. */
function useMergeReadiness(session_id: string, number: number, enabled: boolean) {
  const { api } = usePlatform()
  const last = useRef({ said: '', same: 0 })
  return useQuery({
    queryKey: [...sessionKey(session_id), 'merge-readiness', number],
    queryFn: async ({ signal }) => {
      const read = await calls.getMergeReadiness(api, { query: { session_id }, signal })
      const said = JSON.stringify({ ...read, read_at: '' })
      last.current = { said, same: said === last.current.said ? last.current.same + 1 : 0 }
      return read
    },
    enabled,
    refetchInterval: ({ state }) => pauseBeforeAsking(state.data?.status, last.current.same),
    refetchIntervalInBackground: false,
  })
}

/** Shows what stands in the way of the merge, before it is asked for. */
function Readiness({ host }: { host: ReturnType<typeof useMergeReadiness> }) {
  const { data, error, isFetching } = host
  if (!data)
    return (
      <p class="quiet" role="status">
        {error ? 'What the git host requires could not be read. You can merge all the same.' : 'Asking the git host…'}
      </p>
    )
  const { tone, title } = READINESS[data.status]
  return (
    <Notice tone={tone} title={title}>
      <Reasons readiness={data} />
      {data.method && data.blockers.length === 0 && <p>{METHODS[data.method]}</p>}
      <p class="notice-actions">
        <Button busy={isFetching} onClick={() => host.refetch()}>
          Ask again
        </Button>
      </p>
    </Notice>
  )
}

function Reasons({ readiness: { blockers, unknown } }: { readiness: Pick<MergeReadiness, 'blockers' | 'unknown'> }) {
  return (
    <>
      {blockers.length > 0 && (
        <ul class="pull-request-reasons" aria-label="What stands in the way">
          {blockers.map(({ text }) => (
            <li key={text}>{visibleText(text)}</li>
          ))}
        </ul>
      )}
      {unknown.length > 0 && (
        <ul class="pull-request-reasons quiet small" aria-label="What the git host did not say">
          {unknown.map((text) => (
            <li key={text}>{visibleText(text)}</li>
          ))}
        </ul>
      )}
    </>
  )
}

function MergeFailed({ error }: { error: unknown }) {
  const status = error instanceof ApiError ? error.status : 0
  const readiness = readinessOf(error)
  return (
    <Notice tone="bad" title="It was not merged">
      <p>{visibleText(messageOf(error))}</p>
      {readiness && <Reasons readiness={readiness} />}
      <p>{adviseOnMerge(status, messageOf(error))}</p>
    </Notice>
  )
}

/** Links to the git host if the address is http or https; otherwise shows text. */
function PullRequestLink({ pull_request: { provider, url, number } }: { pull_request: PullRequest }) {
  const link = safeLink(url)
  const name = `Pull request ${number} at ${hostName(provider)}`
  if (link === null)
    return (
      <span>
        {name} <span class="mono small quiet">{visibleText(url).slice(0, 300)}</span>
      </span>
    )
  return (
    <a href={link} rel="noreferrer">
      {name}
    </a>
  )
}
