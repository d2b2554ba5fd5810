import type { CoreContext } from '../../routes/env.ts'
import { resolveUser, type User } from '../../src/access/users.ts'
import type { Status, Turn } from '../../src/base/vocabulary.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { acceptFirstRound, type FirstRound } from '../../src/rounds/accept.ts'
import { finishRound, type RoundEnd } from '../../src/rounds/finish.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { appendStatus } from '../../src/rounds/transitions.ts'
import type { NewSavedPlan } from '../../src/saved-plans/saved-plan.ts'
import { claimOf } from '../sessions/fixtures.ts'

export async function createUser(
  sql: Sql,
  subject: string,
  roles: {
    operation_role?: 'developer' | 'devops'
    panel_role?: 'viewer' | 'editor' | 'admin' | null
    email?: string | null
  } = {},
): Promise<User> {
  const email = roles.email === undefined ? `${subject}@example.org` : roles.email
  const user = await resolveUser(sql, {
    issuer: 'https://issuer.example.org',
    subject,
    email,
    display_name: null,
    elevated: false,
  })
  const [changed] = await sql<User[]>`
    UPDATE users SET operation_role = ${roles.operation_role ?? 'developer'}, panel_role = ${roles.panel_role ?? null}
    WHERE id = ${user.id} RETURNING *`
  return changed ?? user
}

type Needs = Pick<CoreContext, 'sql' | 'queue' | 'now' | 'cache'>

export const openSession = (context: Needs, user_id: number, changes: Partial<FirstRound> = {}): Promise<string> =>
  acceptFirstRound(context, {
    user_id,
    repo_uri: 'https://github.com/acme/infra.git',
    scope_id: 'acme-test',
    provider: 'aws',
    iac_path: null,
    query: 'Add a bucket',
    mode: 'generate',
    is_partial: false,
    ...changes,
  })

/** A saved plan without targets, actions or a stored copy. */
export const SAVED_PLAN: NewSavedPlan = {
  plan_sha256: 'a'.repeat(64),
  workspace_sha256: 'c'.repeat(64),
  commit: '1234567890abcdef1234567890abcdef12345678',
  targets: [],
  changes: [],
  engine: { name: 'OpenTofu', version: '1.10.6' },
  state: { lineage: 'lineage-1', serial: 7 },
  project_id: 'project-1',
  archive_key: null,
}

export interface Run {
  round: ClaimedRound
  status(status: Status, message?: string | null): Promise<void>
  /** Ends the round. `commit` is the head of the session branch; without it the end names none. */
  finish(status: RoundEnd['status'], message?: string, history?: Turn[], commit?: string): Promise<void>
}

/** Acts as the worker: claims the waiting round of a session. */
export async function runRound(context: Needs, uuid: string): Promise<Run> {
  const round = await claimOf(context.sql, uuid)
  return {
    round,
    status: (status, message = null) => appendStatus(context.sql, round, status, message),
    finish: async (status, message = '', history, commit) => {
      await finishRound(context, round, {
        status,
        message,
        history: history ?? null,
        commit: commit ?? null,
        usage: null,
      })
    },
  }
}
