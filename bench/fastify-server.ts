import { createRequire } from 'node:module'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import type { User } from '../src/access/users.ts'
import { connect } from '../src/data/db/pool.ts'
import { listSessions } from '../src/sessions/list.ts'

/**
 * The second baseline: the two routes as a user of Fastify would write them, with the statements of the core, `jose` for
 * the token, schemas for query and answer, and without a log.
 */
const fastify = createRequire(import.meta.url)('fastify')
const sql = connect(process.env.PLATFORM_SQL_DATABASE_URL ?? '')
const issuer = process.env.BENCH_ISSUER ?? ''
const keys = createRemoteJWKSet(new URL(`${issuer}/keys`))

interface Call {
  headers: { authorization?: string }
  query: { page: number; page_size: number }
  user: User
}

async function authenticate(request: Call): Promise<void> {
  const token = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
  const { payload } = await jwtVerify(token, keys, { issuer, audience: 'core' })
  const [user] = await sql<User[]>`
    SELECT id, email, display_name, operation_role, panel_role FROM users
    WHERE issuer = ${issuer} AND subject = ${payload.sub ?? ''}`
  if (!user) throw Object.assign(new Error('Unauthorized'), { statusCode: 401 })
  request.user = user
}

const text = { type: ['string', 'null'] }
const integer = { type: 'integer' }
const me = {
  type: 'object',
  properties: { id: integer, email: text, display_name: text, operation_role: { type: 'string' }, panel_role: text },
}
const lock = {
  type: ['object', 'null'],
  properties: {
    since: text,
    reasons: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          gate: { type: 'string' },
          what: text,
          by: { type: 'string' },
          round: { type: ['integer', 'null'] },
        },
      },
    },
  },
}
const session = {
  type: 'object',
  properties: {
    uuid: { type: 'string' },
    operation: { type: 'string' },
    provider: { type: 'string' },
    current_status: { type: 'string' },
    created_at: { type: 'string' },
    updated_at: { type: 'string' },
    username: text,
    first_query: text,
    workspace: {
      type: 'object',
      properties: { uri: { type: 'string' }, branch: { type: 'string' }, root_path: text },
    },
    in_flight: { type: 'boolean' },
    is_blocked: { type: 'boolean' },
    lock,
  },
}
const page = {
  type: 'object',
  properties: {
    items: { type: 'array', items: session },
    total: integer,
    page: integer,
    page_size: integer,
    total_pages: integer,
  },
}
const pageQuery = {
  type: 'object',
  properties: {
    page: { ...integer, minimum: 1, default: 1 },
    page_size: { ...integer, minimum: 1, maximum: 100, default: 20 },
  },
}

const app = fastify()
app.decorateRequest('user', null)
app.addHook('onRequest', authenticate)
app.get('/api/v1/users/me', { schema: { response: { 200: me } } }, async ({ user }: Call) => user)
app.get(
  '/api/v1/sessions/list',
  { schema: { querystring: pageQuery, response: { 200: page } } },
  async ({ user, query }: Call) => {
    const { items, total } = await listSessions(sql, { ...query, owner_id: user.id })
    return { items, total, ...query, total_pages: Math.ceil(total / query.page_size) }
  },
)
const address = await app.listen({ port: 0, host: '127.0.0.1' })
console.log(JSON.stringify({ message: 'core ready', address }))
process.on('SIGTERM', () => process.exit(0))
