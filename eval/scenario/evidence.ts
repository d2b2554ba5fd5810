import { join } from 'node:path'
import { type Api, ApiError, download, type Session } from '../../dev/demo/api.ts'
import { readText } from '../../dev/files.ts'
import type { EvalStack } from '../stack.ts'
import type { Expectations } from './scenario.ts'

/** Results of a session beside artifacts and code. Parts without an expectation are empty. */
export interface Evidence {
  /** The kept answer to the last request; null if there is no conversation. */
  turn: string | null
  /** Rule ids of the last compliance check. */
  findings: string[]
  /** Model calls of all rounds together, without status texts. */
  model_calls: number
  /** Remarks of code for reviewers, of all rounds together. */
  notes: string[]
  /** Title and text of the pull request, or the reason why there is none; null if it was not opened. */
  pull_request: string | null
}

/** Collects what the expectations need. The pull request is opened for this. Errors: those of the harness. */
export async function collectEvidence(
  { stack, api, uri, signal }: { stack: EvalStack; api: Api; uri: string; signal: AbortSignal },
  session: Session,
  expected: Expectations,
): Promise<Evidence> {
  const counted = expected.max_calls !== undefined || expected.notes.length > 0
  const { model_calls, notes } = counted ? await stack.roundFacts(session.uuid) : { model_calls: 0, notes: [] }
  return {
    turn: expected.turn.length > 0 ? await lastTurn(api, session) : null,
    findings: expected.audit_lacks.length > 0 ? await lastFindings(session, signal) : [],
    model_calls,
    notes,
    pull_request: expected.pull_request.length > 0 ? await openPullRequest(stack, api, uri, session) : null,
  }
}

async function lastTurn(api: Api, { uuid }: Session): Promise<string | null> {
  const { history } = await api.session(`${uuid}&include_history=true`)
  return history?.at(-1)?.assistant ?? null
}

async function lastFindings({ rounds }: Session, signal: AbortSignal): Promise<string[]> {
  const check = rounds.flatMap((round) => round.compliance_checks).at(-1)
  if (!check) return []
  const { violations } = JSON.parse((await download(check, signal)).text) as { violations: { rule_id: string }[] }
  return violations.map(({ rule_id }) => rule_id)
}

async function openPullRequest({ git_host }: EvalStack, api: Api, uri: string, { uuid }: Session): Promise<string> {
  try {
    await api.openPullRequest(uuid)
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
  // The stack's git host keeps its pull requests in this file, which avoids trusting its certificate.
  const pulls = JSON.parse((await readText(join(git_host.pathOf(uri), 'platform-pulls.json'))) ?? '[]') as {
    title: string
    body: string
  }[]
  return pulls.map(({ title, body }) => `${title}\n\n${body}`).join('\n\n')
}
