import { Hono } from 'hono'
import type { User } from '../src/access/users.ts'
import { connect } from '../src/data/db/pool.ts'
import { responseClass, serve } from '../src/runtime/serve.ts'
import { listSessions } from '../src/sessions/list.ts'

/** The baseline server: it gives the same answers with only the statements of the two routes. */
const sql = connect(process.env.PLATFORM_SQL_DATABASE_URL ?? '')
const [issuer, subject] = [process.env.BENCH_ISSUER ?? '', 'bench']

async function currentUser(): Promise<User> {
  const [user] = await sql<User[]>`SELECT * FROM users WHERE issuer = ${issuer} AND subject = ${subject}`
  if (!user) throw new Error('the user is missing')
  return user
}

const app = new Hono()
app.get('/api/v1/users/me', async (c) => {
  const { id, email, display_name, operation_role, panel_role } = await currentUser()
  return c.json({ id, email, display_name, operation_role, panel_role })
})
app.get('/api/v1/sessions/list', async (c) => {
  const { id } = await currentUser()
  const { items, total } = await listSessions(sql, { page: 1, page_size: 20, owner_id: id })
  return c.json({ items, total, page: 1, page_size: 20, total_pages: Math.ceil(total / 20) })
})
// What a server of Hono on Node has as its global unless it is told otherwise.
globalThis.Response = responseClass()
const server = await serve((request) => app.fetch(request), { port: 0, hostname: '127.0.0.1' })
console.log(JSON.stringify({ message: 'core ready', address: server.url }))
process.on('SIGTERM', () => process.exit(0))
