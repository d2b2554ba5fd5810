import type { SessionFacts } from '../sessions/types.ts'

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
