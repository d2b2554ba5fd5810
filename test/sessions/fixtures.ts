import { resolveUser } from '../../src/access/users.ts'
import { createLogger, type Logger } from '../../src/base/log.ts'
import type { Context } from '../../src/context.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { acceptFirstRound, acceptRound, type FirstRound } from '../../src/rounds/accept.ts'
import { claimForRun } from '../../src/rounds/claim.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { memoryCache } from '../helpers/memory-cache.ts'
import { provideDatabase } from '../helpers/postgres.ts'

/** Makes a context of the verbs that counts messages to the queue and sends none. */
export function verbContext(database: { readonly sql: Sql }) {
  const lines: Record<string, unknown>[] = []
  const log: Logger = createLogger({ write: (line) => lines.push(JSON.parse(line)) })
  const sent: number[] = []
  const cache = memoryCache()
  const queue: Context['queue'] = {
    enqueue: async (_tx, round_id) => void sent.push(round_id),
    healthy: async () => true,
  }
  const storage = {
    presign: async (key: string) => `https://files.example/${key}?signature=1`,
    urlsLapse: async () => null,
  } as Partial<Context['storage']> as Context['storage']
  const now = () => new Date('2025-03-04T05:06:07.890Z')
  return {
    get sql() {
      return database.sql
    },
    ...{ log, lines, sent, cache, queue, storage, now },
  }
}

/** Provides a database for the tests of a file, and the context of the verbs. */
export function useVerbs() {
  const db = provideDatabase()
  return { db, context: verbContext(db) }
}

/** An end of a round, for tests that check something else. */
export const END = { status: 'completed', message: 'GENERATE', history: [], commit: null, usage: null } as const

let subjects = 0
export const createUser = (sql: Sql, email: string | null = null) =>
  resolveUser(sql, {
    issuer: 'https://issuer.example',
    subject: `subject-${++subjects}`,
    email,
    display_name: null,
    elevated: false,
  })

export async function createSession(
  context: ReturnType<typeof verbContext>,
  input: Partial<FirstRound> = {},
): Promise<string> {
  const user_id = input.user_id ?? (await createUser(context.sql)).id
  return acceptFirstRound(context, {
    repo_uri: 'https://github.com/acme/network',
    scope_id: 'project-1',
    provider: 'gcp',
    iac_path: null,
    query: 'create a network',
    mode: 'generate',
    is_partial: false,
    ...input,
    user_id,
  })
}

/** Claims the waiting round of a session, as a worker does. */
export async function claimOf(sql: Sql, uuid: string): Promise<ClaimedRound> {
  const [row] = await sql<{ id: number }[]>`
    SELECT r.id FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid} AND r.finished_at IS NULL`
  const claim = row && (await claimForRun(sql, row.id))
  if (!claim) throw new Error(`session ${uuid} has no waiting round`)
  return claim
}

/** Creates a session whose round a worker has. */
export async function claimedSession(context: ReturnType<typeof verbContext>, input?: Partial<FirstRound>) {
  const uuid = await createSession(context, input)
  return { uuid, claim: await claimOf(context.sql, uuid) }
}

/** Accepts the next request of a session and claims its round. */
export async function nextRound(
  context: ReturnType<typeof verbContext>,
  session_uuid: string,
  changes: Partial<Parameters<typeof acceptRound>[1]> = {},
): Promise<ClaimedRound> {
  await acceptRound(context, { session_uuid, mode: 'generate', query: 'q', is_partial: false, ...changes })
  return await claimOf(context.sql, session_uuid)
}

/** Ends the lease of a round. */
export const lapseLease = (sql: Sql, round_id: number) =>
  sql`UPDATE rounds SET lease_until = clock_timestamp() - interval '1 second' WHERE id = ${round_id}`
