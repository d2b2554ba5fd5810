import { resolveUser } from '../../src/access/users.ts'
import { createLogger, type Logger } from '../../src/base/log.ts'
import type { Context } from '../../src/context.ts'
import type { Cache } from '../../src/data/cache/types.ts'
import type { Sql } from '../../src/data/db/types.ts'
import { acceptFirstRound, type FirstRound } from '../../src/rounds/accept.ts'
import { claimRound } from '../../src/rounds/claim.ts'

/** A cache of this process. */
export function memoryCache(): Cache & { entries: Map<string, { value: string; ttl: number }> } {
  const entries = new Map<string, { value: string; ttl: number }>()
  return {
    entries,
    get: async (key) => entries.get(key)?.value ?? null,
    set: async (key, value, ttl) => void entries.set(key, { value, ttl }),
    delete: async (...keys) => {
      for (const key of keys) entries.delete(key)
    },
    ping: async () => {},
    close: async () => {},
  }
}

/** What the verbs need; messages of the queue are counted instead of sent. */
export function verbContext(sql: Sql) {
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
  return { sql, log, lines, sent, cache, queue, storage, now: () => new Date('2025-03-04T05:06:07.890Z') }
}

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

/** Claims the unfinished round of a session. */
export async function claimOf(sql: Sql, uuid: string) {
  const [row] = await sql<{ id: number }[]>`
    SELECT r.id FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid} AND r.finished_at IS NULL`
  const claim = row && (await claimRound(sql, row.id))
  if (!claim) throw new Error('nothing to claim')
  return claim
}

/** As if the worker had been silent for longer than a lease. */
export const lapseLease = (sql: Sql, round_id: number) =>
  sql`UPDATE rounds SET lease_until = clock_timestamp() - interval '1 second' WHERE id = ${round_id}`
