import { HttpResponse, http } from 'msw'
import { beforeAll, describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../../routes/endpoints.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import { recordSavedPlan } from '../../src/rounds/transitions.ts'
import { createTestCore } from '../helpers/core.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createIssuer } from '../helpers/issuer.ts'
import { createUser, runRound, SAVED_PLAN } from '../helpers/sessions.ts'
import { startOnce } from '../helpers/start-once.ts'
import { prWriter, startOutside } from './outside.ts'

/**
 * Permissions of each route. The columns after it are callers: without a token; with a token that is none; then users
 * who do not own the session in question: developer and devops without a panel role, viewer, editor and admin with
 * operation role developer; its owner with operation role developer; its owner with devops; a stranger who was never
 * seen before. A number is the status. Refusals are 403 and told apart by their text:
 *
 * op   Requires operation role '<role>' or higher        <role> stands behind the route
 * pan  Requires admin-panel role '<role>' or higher      likewise
 * own  Not the session owner
 */
const MATRIX = `
  route                                                               | none     bad      dev      devops   viewer   editor   admin    owner    owner+   stranger
  GET   /auth/config                                                  | 200      200      200      200      200      200      200      200      200      200
  POST  /auth/authorize                                               | 401      401      200      200      200      200      200      200      200      200
  GET   /users/me                                                     | 401      401      200      200      200      200      200      200      200      200
  GET   /users/me/usage                                               | 401      401      200      200      200      200      200      200      200      200
  POST  /iac/generate                               first             | 401      401      202      202      202      202      202      202      202      202
  POST  /iac/generate                               continue          | 401      401      own      own      own      own      own      202      202      own
  POST  /iac/drift                                  first     devops  | 401      401      op       202      op       op       op       op       202      op
  POST  /iac/drift                                  continue  devops  | 401      401      op       own      op       op       op       op       202      op
  POST  /iac/apply                                                    | 401      401      own      own      own      own      own      202      202      own
  POST  /iac/import                                 first             | 401      401      202      202      202      202      202      202      202      202
  POST  /iac/import                                 continue          | 401      401      own      own      own      own      own      202      202      own
  POST  /iac/seal/verify                                              | 401      401      own      own      own      200      200      200      200      own
  POST  /iac/cancel                                                   | 401      401      own      own      own      202      202      202      202      own
  GET   /events/subscribe/{session_id}                                | 401      401      own      own      200      200      200      200      200      own
  GET   /events/activity/{session_id}                                 | 401      401      own      own      200      200      200      200      200      own
  GET   /events/output/{session_id}                                   | 401      401      own      own      200      200      200      200      200      own
  PUT   /repository/pr                                                | 401      401      own      own      own      own      own      201      201      own
  GET   /repository/pr/readiness                                      | 401      401      own      own      own      200      200      200      200      own
  PUT   /repository/pr/merge                                          | 401      401      own      own      own      own      own      204      204      own
  POST  /repository/parse                                             | 401      401      200      200      200      200      200      200      200      200
  GET   /sessions/list                                                | 401      401      200      200      200      200      200      200      200      200
  GET   /sessions                                                     | 401      401      own      own      200      200      200      200      200      own
  GET   /admin/sessions/list                                  viewer  | 401      401      pan      pan      200      200      200      pan      pan      pan
  GET   /admin/sessions                                       viewer  | 401      401      pan      pan      200      200      200      pan      pan      pan
  GET   /admin/sessions/summary                               viewer  | 401      401      pan      pan      200      200      200      pan      pan      pan
  PATCH /admin/sessions/{session_id}/toggle_lock              editor  | 401      401      pan      pan      pan      200      200      pan      pan      pan
  GET   /admin/users                                          admin   | 401      401      pan      pan      pan      pan      200      pan      pan      pan
  PUT   /admin/users/{user_id}/roles                          admin   | 401      401      pan      pan      pan      pan      200      pan      pan      pan
  GET   /admin/audit                                          viewer  | 401      401      pan      pan      200      200      200      pan      pan      pan
  POST  /mapping/resolve                                              | 401      401      200      200      200      200      200      200      200      200
  POST  /notifications                                                | 401      401      202      202      202      202      202      202      202      202`

interface Row {
  method: string
  path: string
  /** `first` or `continue` where a route does both. */
  kind: string
  role: string
  cells: string[]
}
const [header, ...lines] = MATRIX.trim().split('\n')
const CALLERS = header?.split('|')[1]?.trim().split(/\s+/) ?? []
const ROWS: Row[] = lines.map((line) => {
  const [route = '', cells = ''] = line.split('|')
  const [method = '', path = '', ...rest] = route.trim().split(/\s+/)
  const kind = rest.find((word) => word === 'first' || word === 'continue') ?? ''
  return {
    method,
    path: `/v1${path}`,
    kind,
    role: rest.find((word) => word !== kind) ?? '',
    cells: cells.trim().split(/\s+/),
  }
})

const server = interceptRequests('bypass')
const outside = startOnce(startOutside)
const core = startOnce(async () => {
  const issuer = await createIssuer()
  const accepted = () => HttpResponse.json({ delivery_id: 'd-1' }, { status: 202 })
  server.use(...issuer.handlers, http.post('http://notifications.test/v1/notify', accepted))
  const started = await createTestCore({
    yaml: `
${outside.yaml}
oidc: { issuer_url: "${issuer.url}", client_id: core }
services: { notifications: { enabled: true, endpoint: "http://notifications.test", token_env: T } }`,
    env: { T: 'token' },
    context: { llm: prWriter() },
  })
  return { ...started, issuer }
})
let target: number
/** A session of each owner. All others try the first. */
const sessions = new Map<string, string>()
beforeAll(async () => {
  const { sql } = core.database
  await createUser(sql, 'dev')
  await createUser(sql, 'devops', { operation_role: 'devops' })
  for (const role of ['viewer', 'editor', 'admin'] as const) await createUser(sql, role, { panel_role: role })
  target = (await createUser(sql, 'target')).id
  for (const [name, operation_role] of [
    ['owner', 'developer'],
    ['owner+', 'devops'],
  ] as const) {
    const user = await createUser(sql, name, { operation_role })
    sessions.set(name, await outside.ranSession(core.context, user.id))
  }
})
const queries: Record<string, (uuid: string) => string> = {
  '/v1/sessions': (id) => `?id=${id}`,
  '/v1/admin/sessions': (id) => `?id=${id}`,
  '/v1/repository/pr/readiness': (id) => `?session_id=${id}`,
}
const bodies: Record<string, (uuid: string) => unknown> = {
  '/v1/auth/authorize': () => ({ cloud: 'aws', project_name: outside.repository, environment: '' }),
  '/v1/repository/parse': () => ({ repo_uri: outside.repository }),
  '/v1/admin/sessions/{session_id}/toggle_lock': () => ({ locked: false, reason: 'checked' }),
  '/v1/admin/users/{user_id}/roles': () => ({ operation_role: 'developer' }),
  '/v1/mapping/resolve': () => ({ identifier: 'acme/infrastructure' }),
  '/v1/notifications': () => ({ kind: 'support.user_question', severity: 'info', subject: 's', body: 'b' }),
  '/v1/iac/apply': (session_id) => ({ session_id }),
  '/v1/iac/seal/verify': (session_id) => ({ session_id }),
  '/v1/iac/cancel': (session_id) => ({ session_id }),
  '/v1/repository/pr': (session_id) => ({ session_id }),
  '/v1/repository/pr/merge': (session_id) => ({ session_id }),
}

const first = () => ({ q: 'Add a bucket', repo_uri: outside.repository, scope_id: 'acme', engine_providers: 'aws' })

async function tokenOf(caller: string): Promise<string | undefined> {
  if (caller === 'none') return undefined
  if (caller === 'bad') return `${(await core.issuer.token('admin')).slice(0, -8)}AAAAAAAA`
  return core.issuer.token(caller === 'stranger' ? `stranger-${crypto.randomUUID()}` : caller)
}

async function call(row: Row, caller: string): Promise<Response> {
  const uuid = sessions.get(caller) ?? sessions.get('owner') ?? ''
  // The next caller cannot cancel a round that is already cancelled.
  if (row.path === '/v1/iac/cancel')
    await acceptRound(core.context, { session_uuid: uuid, mode: 'generate', query: 'More', is_partial: false })
  const path =
    row.path.replace('{session_id}', uuid).replace('{user_id}', String(target)) + (queries[row.path]?.(uuid) ?? '')
  const json =
    row.kind === 'first'
      ? first()
      : row.kind === 'continue'
        ? { session_id: uuid, q: 'More' }
        : bodies[row.path]?.(uuid)
  const token = await tokenOf(caller)
  return core.call(row.method, `/api${path}`, { json, ...(token === undefined ? {} : { token }) })
}

/** Saves a plan in each session, in the running round or in a new one. */
async function savePlans(): Promise<void> {
  await endRounds()
  for (const session_uuid of sessions.values()) {
    await acceptRound(core.context, { session_uuid, mode: 'generate', query: 'More', is_partial: false })
    const { round, finish } = await runRound(core.context, session_uuid)
    await recordSavedPlan(core.database.sql, round, SAVED_PLAN)
    await finish('completed')
  }
}

/** Ends the rounds of earlier rows, because nothing is merged while one runs. */
async function endRounds(): Promise<void> {
  const running = await core.database.sql<{ uuid: string }[]>`
    SELECT uuid FROM sessions WHERE in_flight AND uuid = ANY(${[...sessions.values()]}::uuid[])`
  for (const { uuid } of running) await (await runRound(core.context, uuid)).finish('completed')
}

/** Returns the status of a cell and, for refusals, the text. */
function expected({ role }: Row, cell: string, caller: string): [number, unknown] {
  const refusals: Record<string, string> = {
    op: `Requires operation role '${role}' or higher`,
    pan: `Requires admin-panel role '${role}' or higher`,
    own: 'Not the session owner',
    401: caller === 'none' ? 'Not authenticated' : 'Token validation failed: signature does not match',
  }
  const detail = refusals[cell]
  return [Number(cell) || 403, detail === undefined ? undefined : { detail }]
}

describe('the matrix', () => {
  it('names every route and every caller', () => {
    expect(CALLERS).toHaveLength(10)
    for (const { path, cells } of ROWS) expect(cells, path).toHaveLength(CALLERS.length)
    const published = ENDPOINTS.map(({ route }) => `${route.method.toUpperCase()} ${route.path}`)
    expect([...new Set(ROWS.map(({ method, path }) => `${method} ${path}`))].sort()).toEqual(published.sort())
    expect(published).toHaveLength(28)
  })

  it.each(ROWS)('$method $path $kind', async (row) => {
    if (row.path === '/v1/repository/pr/merge') await endRounds()
    if (row.path === '/v1/iac/seal/verify') await savePlans()
    const found: Record<string, unknown> = {}
    const wanted: Record<string, unknown> = {}
    for (const [index, caller] of CALLERS.entries()) {
      const answer = await call(row, caller)
      const [status, refusal] = expected(row, row.cells[index] ?? '', caller)
      wanted[caller] = [status, refusal, status === 401 ? expect.stringMatching(/^Bearer\b/) : null]
      const body = answer.status >= 400 ? await answer.json() : undefined
      if (!body) await answer.body?.cancel()
      found[caller] = [answer.status, body, answer.headers.get('www-authenticate')]
    }
    expect(found).toEqual(wanted)
  })
})
