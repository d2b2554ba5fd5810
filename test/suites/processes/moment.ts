import { expect } from 'vitest'
import { connect } from '../../../src/data/db/pool.ts'
import { createSendingQueue } from '../../../src/data/queue.ts'
import { startCoreProcess } from '../../helpers/core-process.ts'
import { startCoreSurroundings } from '../../helpers/core-surroundings.ts'
import { eventually } from '../../helpers/eventually.ts'
import { createSession, verbContext } from '../../sessions/fixtures.ts'
import { startWorkerProcess } from './processes.ts'

export type Closers = (() => Promise<unknown>)[]

/**
 * Starts a core, a worker and an open stream on a database, with a round in the middle that waits for NOTIFY `gate`.
 * @param url the address that the processes get
 * @param ownUrl the address for the statements of the test
 * @param closers gets what is to be called at the end, the last first
 */
export async function startMoment(url: string, closers: Closers, { ownUrl = url, query = 'gate' } = {}) {
  const surroundings = await startCoreSurroundings()
  closers.push(surroundings.close)
  const core = await startCoreProcess({ ...surroundings.env, PLATFORM_SQL_DATABASE_URL: url })
  closers.push(async () => core.kill())
  const worker = await startWorkerProcess(url)
  const sql = connect(ownUrl)
  const queue = createSendingQueue(sql)
  closers.push(async () => {
    await sql.end({ timeout: 1 })
  })
  const context = { ...verbContext({ sql }), queue }
  const call = (path: string, json?: object) =>
    fetch(new URL(`/api/v1${path}`, core.ready.address), {
      ...(json && { method: 'POST', body: JSON.stringify(json), headers: { 'content-type': 'application/json' } }),
    })
  const { id: user_id } = (await (await call('/users/me')).json()) as { id: number }
  /** Reads a stream of statuses to its end. */
  const follow = async (uuid: string): Promise<string[]> => {
    const answer = await call(`/events/subscribe/${uuid}`)
    return [...(await answer.text()).matchAll(/"status_msg":"(\w+)"/g)].map(([, status]) => status ?? '')
  }
  const ended = await createSession(context, { user_id, query: 'go' })
  await follow(ended)
  const statuses = follow(await createSession(context, { user_id, query }))
  await eventually(() => expect(worker.lines.filter(({ message }) => message === 'running')).toHaveLength(2))
  return {
    core,
    worker,
    sql,
    /** Posts a request to a session that has ended. */
    post: (q: string) => call('/iac/generate', { session_id: ended, q }),
    /** Reads the stream of that session to its end. */
    follow: () => follow(ended),
    /** Counts the rounds of that session. */
    count: async (): Promise<number> =>
      (await sql`SELECT count(*) FROM rounds JOIN sessions s ON s.id = session_id WHERE s.uuid = ${ended}`)[0]?.count,
    /** Lets the round go on, and expects that it ends once, that the stream tells it, and that a further round runs. */
    async expectWhole() {
      // With the answer to this a server says that it is no primary any more, to which a notification may still be sent.
      await sql`SELECT 1`
      // The worker may listen anew at this very time.
      const opening = setInterval(() => void sql.notify('gate', '').catch(() => {}), 500)
      expect(
        (await statuses.finally(() => clearInterval(opening))).filter((status) => status === 'COMPLETED'),
      ).toHaveLength(1)
      expect(await (await this.post('go')).json()).toEqual({ session_id: ended })
      expect((await follow(ended)).at(-1)).toBe('COMPLETED')
      expect(worker.child.exitCode).toBeNull()
      const rounds = await sql`
        SELECT count(*) FILTER (WHERE st.status = 'completed') AS ends,
               count(*) FILTER (WHERE st.status = 'generating') AS runs, max(r.attempts) AS attempts,
               (SELECT count(*) FROM engine_plans p WHERE p.round_id = r.id) AS plans
        FROM rounds r JOIN statuses st ON st.round_id = r.id GROUP BY r.id ORDER BY r.id`
      expect(rounds).toHaveLength((await this.count()) + 1)
      for (const { ends, plans, runs, attempts } of rounds) expect([ends, plans, runs]).toEqual([1, 1, attempts])
    },
  }
}
