import type { Round, Session } from '../../client/api/client.ts'
import { lastStatus } from '../../client/sessions/use-session.ts'
import { LOCKED, type Refusal, refuse } from '../seal/apply-readiness.ts'

export type PullRequest = Round['pull_requests'][number]

/** A pull request of the session, and the round after which it was opened. */
export interface OpenedPullRequest {
  pull_request: PullRequest
  round: number
}

/** Returns the pull requests of a session, each once, the newest first. */
export function listPullRequests({ rounds }: Session): OpenedPullRequest[] {
  const seen = new Map<string, OpenedPullRequest>()
  for (const { number, pull_requests } of rounds)
    for (const pull_request of pull_requests) {
      const key = `${pull_request.provider} ${pull_request.number}`
      seen.delete(key)
      seen.set(key, { pull_request, round: number })
    }
  return [...seen.values()].toReversed()
}

/** Returns the number of rounds that ended after the newest pull request was opened. */
export const roundsSince = ({ rounds }: Session, opened: OpenedPullRequest): number =>
  rounds.filter(({ number, preview }) => number > opened.round && !preview).length

/** Returns the first reason why a merge would be refused; null when none is known. */
export function findMergeRefusal(session: Session, isOwn: boolean): Refusal | null {
  if (!isOwn) return refuse('This session belongs to somebody else.', 'Only its owner may merge.')
  if (session.is_blocked) return LOCKED
  if (session.in_flight)
    return refuse(
      'A round of this session is running.',
      'Its changes are not reviewed yet. Wait for it to end.',
      'rounds',
    )
  if (session.current_status === 'failed')
    return refuse('The last round failed.', 'The branch may contain unreviewed code. Open a new session.', 'start')
  if (!session.rounds.some((round) => lastStatus(round)?.status === 'completed' && !round.preview))
    return refuse(
      'No round has completed yet.',
      'Only reviewed code is merged. Request a further round that completes.',
      'rounds',
    )
  return null
}

/** Returns advice about a refusal of the platform or the git host, by its status. */
export function adviseOnMerge(status: number, message: string): string {
  if (status === 404 && /is (merged|closed|completed)/i.test(message)) return 'Nothing is left to do.'
  if (status === 404) return 'Open a pull request first.'
  if (status === 409 && /not reviewed/.test(message))
    return (
      'Somebody pushed to the branch. Request a further round, which reviews what is there; or, if the platform ' +
      'itself pushed just now, merge again in a moment.'
    )
  if (status === 409) return 'Nothing was merged. Fix the cause, then merge again.'
  if (status === 400)
    return 'The git host refused it, for example because of a conflict or a missing approval. Check there.'
  if (status === 504) return 'It may have been merged all the same: check the git host before you try again.'
  return 'Check the git host, then try again.'
}

const HOSTS: Record<PullRequest['provider'], string> = {
  GITHUB: 'GitHub',
  GITLAB: 'GitLab',
  AZURE_DEVOPS: 'Azure DevOps',
}

export const hostName = (provider: PullRequest['provider']): string => HOSTS[provider] ?? 'the git host'

/** Returns the address if it may be a link; null for anything but http and https. */
export function safeLink(url: string): string | null {
  const protocol = URL.parse(url)?.protocol
  return protocol === 'https:' || protocol === 'http:' ? url : null
}
