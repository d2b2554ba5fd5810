import type { SessionFacts } from '../sessions/types.ts'
import { type NotificationContext, sendBestEffort } from './send.ts'

/** A background run ended `failed`; `message` is the text of that status. Best effort. */
export const notifyRunFailure = (
  context: NotificationContext,
  session: SessionFacts,
  facts: { round: number; message: string },
): Promise<void> =>
  sendBestEffort(context, session, facts.round, {
    kind: 'system.exception.failure',
    severity: 'error',
    subject: `System Core exception failure – session ${session.uuid}`,
    body: facts.message,
  })

/** The engine ended an apply with a non-zero exit code; `stderr` is its output. Best effort. */
export const notifyApplyFailure = (
  context: NotificationContext,
  session: SessionFacts,
  facts: { round: number; stderr: string },
): Promise<void> =>
  sendBestEffort(context, session, facts.round, {
    kind: 'iac.apply.failure',
    severity: 'error',
    subject: `Infrastructure deployment failure – session ${session.uuid}`,
    body: facts.stderr,
  })

/** The compliance audit locked the session; `summary` is the auditor's. Best effort. */
export const notifyComplianceFailed = (
  context: NotificationContext,
  session: SessionFacts,
  facts: { round: number; summary: string },
): Promise<void> =>
  sendBestEffort(context, session, facts.round, {
    kind: 'iac.compliance.failed',
    severity: 'warning',
    subject: `Compliance check failed – session ${session.uuid}`,
    body: facts.summary,
  })

/** The impact gate locked the session; title and description are the report's banner. Best effort. */
export const notifyImpactHigh = (
  context: NotificationContext,
  session: SessionFacts,
  facts: { round: number; title: string; description: string },
): Promise<void> =>
  sendBestEffort(context, session, facts.round, {
    kind: 'iac.impact.high',
    severity: 'warning',
    subject: `High impact changes – session ${session.uuid}`,
    body: [facts.title, facts.description].filter((text) => text !== '').join('\n\n'),
  })

/** Plain facts about the session, without those that are unknown. */
export function sessionContext(session: SessionFacts, round: number): Record<string, string | number> {
  const facts: Record<string, string | number | null> = {
    session_id: session.uuid,
    operation: session.operation,
    cloud: session.provider,
    project: session.scope_id,
    repository: session.workspace.uri,
    branch: session.workspace.branch,
    iac_path: session.workspace.root_path,
    round,
    user: session.username,
    request: session.first_query,
  }
  const known: Record<string, string | number> = {}
  for (const [name, value] of Object.entries(facts)) if (value !== null && value !== '') known[name] = value
  return known
}

/** The name of a user without an e-mail is made from the id. */
export const ownerEmail = ({ username, user_id }: SessionFacts): string | null =>
  username === `user-${user_id}` ? null : username
