import { useMutation } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import { ApiError, messageOf } from '../../client/api/errors.ts'
import type { Session } from '../../client/api/schemas.ts'
import { usePlatform } from '../../client/platform.ts'
import { useRefreshSession } from '../../client/sessions/use-session.ts'
import { readStored, writeStored } from '../../client/stored.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { visibleText } from '../../ui/words.ts'
import { Refused } from '../session/session-link.tsx'
import {
  adviseOnMerge,
  findMergeRefusal,
  hostName,
  type OpenedPullRequest,
  type PullRequest,
  safeLink,
} from './merge-readiness.ts'

interface Props {
  session: Session
  opened: OpenedPullRequest
  isOwn: boolean
}

/** Shows the newest pull request, its state as far as the platform knows it, and the merge. */
export function Merge({ session, opened, isOwn }: Props) {
  const { api } = usePlatform()
  const refresh = useRefreshSession()
  const { pull_request, round } = opened
  const kept = `platform.draft.merged.${session.uuid}.${pull_request.number}`
  const [merged, setMerged] = useState(() => readStored(sessionStorage, kept) === true)
  const [asking, setAsking] = useState(false)
  const merge = useMutation({
    mutationFn: () => calls.mergePullRequest(api, { body: { session_id: session.uuid } }),
    onSuccess: () => {
      writeStored(sessionStorage, kept, true)
      setMerged(true)
    },
    onSettled: () => refresh(session.uuid),
  })
  const refusal = findMergeRefusal(session, isOwn)
  return (
    <section class="card seal-card" aria-labelledby="pull-request-newest">
      <h3 id="pull-request-newest">
        <PullRequestLink pull_request={pull_request} />
      </h3>
      <p class="quiet">
        Opened after round {round}. Only the git host knows whether it was approved, closed or merged there.
      </p>
      {merged && (
        <Notice tone="good" title="Merged">
          The code is in the default branch. The cloud is changed by a separate apply: see Saved plan.
        </Notice>
      )}
      {!merged && refusal && <Refused refusal={refusal} sessionId={session.uuid} title="It cannot be merged now" />}
      {!merged && !refusal && (
        <div class="notice-actions">
          <Button kind="primary" busy={merge.isPending} onClick={() => setAsking(true)}>
            {merge.isPending ? 'Merging…' : 'Merge…'}
          </Button>
        </div>
      )}
      <p role="status" class={merge.isPending ? undefined : 'unseen'}>
        {merge.isPending && 'Merging takes up to 50 seconds.'}
      </p>
      {merge.error && !merged && <MergeFailed error={merge.error} />}
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
        <p class="quiet">This changes the repository, not the cloud.</p>
      </Confirm>
    </section>
  )
}

function MergeFailed({ error }: { error: unknown }) {
  const status = error instanceof ApiError ? error.status : 0
  return (
    <Notice tone="bad" title="It was not merged">
      <p>{visibleText(messageOf(error))}</p>
      <p>{adviseOnMerge(status, messageOf(error))}</p>
    </Notice>
  )
}

/** Links to the git host if the address is http or https; otherwise shows text. */
export function PullRequestLink({ pull_request: { provider, url, number } }: { pull_request: PullRequest }) {
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
