import { ApiError, type Components, type Round, type Session } from '../../client/api/client.ts'
import { lastStatus } from '../../client/sessions/use-session.ts'
import { LOCKED, type Refusal, refuse } from '../seal/apply-readiness.ts'

export type MergeReadiness = Components['MergeReadiness']
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

const ASKED_EVERY_MS = 30_000
const ASKED_AT_LEAST_MS = 240_000

/**
 * Returns the milliseconds until the git host is asked again, longer the more often its answer was the same; false when
 * no further answer is to be expected.
 */
export function pauseBeforeAsking(status: MergeReadiness['status'] | undefined, same: number): number | false {
  if (status === 'merged' || status === 'closed') return false
  return Math.min(ASKED_EVERY_MS * 2 ** Math.floor(same / 4), ASKED_AT_LEAST_MS)
}

/** Tone and title of what the git host says about a merge. */
export const READINESS: Record<MergeReadiness['status'], { tone: 'good' | 'warn' | 'neutral'; title: string }> = {
  ready: { tone: 'good', title: 'The git host would merge it now' },
  waiting: { tone: 'neutral', title: 'The git host waits before it merges' },
  blocked: { tone: 'warn', title: 'The git host would probably refuse the merge now' },
  merged: { tone: 'good', title: 'Merged' },
  closed: { tone: 'warn', title: 'The pull request is closed' },
  unknown: { tone: 'neutral', title: 'The git host does not say whether it would merge' },
}

export const METHODS: Record<NonNullable<MergeReadiness['method']>, string> = {
  merge: 'It makes a merge commit.',
  squash: 'It squashes the commits of the branch into one.',
  rebase: 'It rebases the commits of the branch, without a merge commit.',
}

/** Returns what the answer to a failed merge says about the reasons; null when it says nothing. */
export function readinessOf(error: unknown): Pick<MergeReadiness, 'blockers' | 'unknown'> | null {
  const readiness = error instanceof ApiError ? (error.envelope.readiness as Partial<MergeReadiness> | undefined) : null
  const { blockers, unknown } = readiness ?? {}
  if (!Array.isArray(blockers) || !Array.isArray(unknown)) return null
  const isText = (text: unknown) => typeof text === 'string'
  return { blockers: blockers.filter((blocker) => isText(blocker?.text)), unknown: unknown.filter(isText) }
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
