import type { Cloud, Operation } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Transaction } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import { branchName } from './branch-name.ts'
import { notifyStatus } from './status-channel.ts'

export interface FirstRound {
  user_id: number
  /** Checked and normalised by the caller. */
  repo_uri: string
  scope_id: string
  provider: Cloud
  iac_path: string | null
  query: string
  mode: Operation
  is_partial: boolean
}

/**
 * Creates a session with its first round, status `started`, and the queue's message, all or nothing.
 * @returns the session's uuid
 */
export async function acceptFirstRound(
  context: Pick<Context, 'sql' | 'queue' | 'now'>,
  input: FirstRound,
): Promise<string> {
  const branch = branchName(context.now())
  return context.sql.begin(async (tx) => {
    const { uuid, round_id } = await insertSession(tx, { ...input, query: storable(input.query), branch })
    await context.queue.enqueue(tx, round_id)
    await notifyStatus(tx, uuid)
    return uuid
  })
}

async function insertSession(
  tx: Transaction,
  input: FirstRound & { branch: string },
): Promise<{ uuid: string; round_id: number }> {
  const [row] = await tx<{ uuid: string; round_id: number }[]>`
    WITH session AS (
      INSERT INTO sessions (user_id, operation, in_flight, round_count)
      VALUES (${input.user_id}, ${input.mode}, true, 1) RETURNING id, uuid
    ), workspace AS (
      INSERT INTO workspaces (session_id, uri, branch, root_path)
      SELECT id, ${storable(input.repo_uri)}, ${input.branch}, ${storable(input.iac_path)} FROM session
    ), provider AS (
      INSERT INTO engine_providers (session_id, provider, scope_id)
      SELECT id, ${input.provider}, ${storable(input.scope_id)} FROM session
    ), history AS (
      INSERT INTO histories (session_id, first_query) SELECT id, ${input.query} FROM session
    ), round AS (
      INSERT INTO rounds (session_id, number, query, mode, is_partial)
      SELECT id, 1, ${input.query}, ${input.mode}, ${input.is_partial} FROM session RETURNING id
    ), status AS (
      INSERT INTO statuses (session_id, round_id, status) SELECT session.id, round.id, 'started' FROM session, round
    )
    SELECT session.uuid, round.id AS round_id FROM session, round`
  if (!row) throw new Error('the session was not inserted')
  return row
}
