import { badRequest, gatewayTimeout, notFound } from '../base/errors.ts'
import { delay } from '../base/http.ts'

const WAIT_MS = 1_000

/**
 * Calls `ask` until its answer is not null, with a pause of one second after each null.
 * Errors: 504 `Pull Request <n> readiness polling exhausted.` after `seconds` waits; the signal's reason.
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

/** The error for a pull request that is closed or merged already. It is a 404, like for a session without any. */
export const noOpenPullRequest = (number: number, state: string) =>
  notFound(`There are no pull requests to merge: Pull Request ${number} is ${state}.`)
