import { badRequest, conflict, gatewayTimeout, notFound, type PlatformError } from '../base/errors.ts'
import { delay } from '../base/http.ts'
import { ProviderRefusal } from './call.ts'

const WAIT_MS = 1_000

/**
 * Calls `ask` every second until its answer is not null. Errors: 504 `Pull Request <n> readiness polling exhausted.`
 * after `seconds` waits; the signal's reason.
 */
export async function pollUntilReady<Answer>(
  ask: () => Promise<Answer | null>,
  options: { number: number; seconds: number; signal: AbortSignal },
): Promise<Answer> {
  for (let waits = 0; ; waits++) {
    const answer = await ask()
    if (answer !== null) return answer
    if (waits >= options.seconds) throw gatewayTimeout(`Pull Request ${options.number} readiness polling exhausted.`)
    await delay(WAIT_MS, options.signal).catch(() => {
      throw options.signal.reason
    })
  }
}

export const cannotBeMerged = (number: number) => badRequest(`Pull Request ${number} cannot be merged.`)

/** Returns the 404 for a closed or merged pull request, as for a session without any. */
export const noOpenPullRequest = (number: number, state: string) =>
  notFound(`There are no pull requests to merge: Pull Request ${number} is ${state}.`)

/** Returns the error for a branch that is not at the commit to merge. */
export const branchMoved = (number: number, commit: string): PlatformError =>
  conflict(
    `Pull Request ${number} holds code that was not reviewed: its branch is not at commit ${commit.slice(0, 12)}, ` +
      'with which the last completed round ended. PR merge is not allowed; run another round first.',
  )

/** Throws when the provider reports a branch at another commit than the one to merge. */
export function assertAt(number: number, current: string | undefined, commit: string | undefined): void {
  if (commit !== undefined && current !== undefined && current !== commit) throw branchMoved(number, commit)
}

/** Rethrows an error of a merge request; a 409 for a named commit means that the branch is at another one. */
export function rethrowMoved(number: number, commit: string | undefined, error: unknown): never {
  if (commit !== undefined && error instanceof ProviderRefusal && error.providerStatus === 409)
    throw branchMoved(number, commit)
  throw error
}
