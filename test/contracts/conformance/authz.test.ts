import { describe, expect, it } from 'vitest'
import { createAuthzApp } from '../../../sidecars/authz/main.ts'
import { assignRole, type RoleStore, type Users } from '../../../sidecars/authz/role-store.ts'
import { silentLogger } from '../../../src/base/log.ts'
import {
  type Asked,
  answering,
  before,
  brokenOf,
  type Handler,
  isNew,
  judged,
  problem,
  promisesOf,
  replacingStatus,
  TOKEN,
} from './fakes/serve.ts'

const ADMIN = 'root@example.com'
const right = { authorization: `Bearer ${TOKEN}` }

function memoryStore(): RoleStore {
  const users: Users = new Map()
  assignRole(users, ADMIN, 'admin', ADMIN)
  return {
    read: async () => users,
    change: async (change) => {
      change(users)
    },
  }
}
const bundled = (permissive = true): Handler => {
  const app = createAuthzApp({ token: TOKEN, permissive, store: memoryStore(), log: silentLogger })
  return (request) => app.fetch(request)
}
const on = (method: string, path: RegExp, intervene: (asked: Asked) => Response | Promise<Response>): Handler =>
  before(bundled(), (asked) =>
    asked.request.method === method && path.test(asked.path) ? intervene(asked) : asked.pass(),
  )
const caller = ({ request }: Asked) => request.headers.get('x-user-id') ?? ''
const asAdmin = { headers: { ...right, 'x-user-id': ADMIN } }

const formerAdmins = new Set<string>()
const revoked = new Set<string>()
const assigned = new Set<string>()

const DEFECTS: Record<string, Handler> = {
  'a denial is 403: check.decision': replacingStatus(bundled(false), /^\/v1\/check$/, 200, 403),
  'a key that is asked for and refused: check.announced': on('POST', /check$/, ({ json, pass }) =>
    /scope_id/.test(JSON.stringify(json) ?? '') ? problem(422) : pass(),
  ),
  'a reason that is too long: check.answers': answering(bundled(), 200, (json) =>
    'authorized' in json ? { ...json, reason: 'x'.repeat(1025) } : json,
  ),
  'a decision as text: check.decision, check.answers': answering(bundled(), 200, (json) =>
    'authorized' in json ? { ...json, authorized: 'yes' } : json,
  ),
  '422 for text outside of ASCII: check.limits': on('POST', /check$/, ({ text, pass }) =>
    /[^\0-\x7f]/.test(text ?? '') ? problem(422) : pass(),
  ),
  '500 for a lone surrogate: check.strange': on('POST', /check$/, ({ json, pass }) =>
    /\\ud800/.test(JSON.stringify(json) ?? '') ? problem(500) : pass(),
  ),
  '__proto__ as an undeclared key: check.undeclared': on('POST', /check$/, ({ text, json, pass }) => {
    if (!text?.includes('"__proto__"')) return pass()
    return pass({ body: Object.fromEntries(Object.entries(json as object).filter(([key]) => key !== '__proto__')) })
  }),
  'an empty cloud is accepted: check.lengths': on('POST', /check$/, ({ json, text, pass }) =>
    text?.includes('"cloud":""') ? pass({ body: { ...(json as object), cloud: 'x' } }) : pass(),
  ),
  'malformed JSON is 500: check.malformed': on('POST', /check$/, ({ json, pass }) =>
    json === undefined ? problem(500) : pass(),
  ),
  'no admin in the catalogue: roles.catalogue': on('GET', /roles$/, () => Response.json({ roles: [{ name: 'user' }] })),
  'a role without a name: roles.answers': on('GET', /roles$/, () =>
    Response.json({ roles: [{ name: 'admin' }, { description: 'x' }] }),
  ),
  'everybody lists the users: admin.refused': on('GET', /users$/, ({ pass }) => pass(asAdmin)),
  'everybody assigns: admin.refused': on('POST', /roles$/, ({ pass }) => pass(asAdmin)),
  'everybody revokes: admin.refused': on('DELETE', /roles/, ({ pass }) => pass(asAdmin)),
  'a caller without a name is an admin: admin.refused': on('GET', /users$/, (asked) =>
    asked.pass(caller(asked) === '' ? asAdmin : {}),
  ),
  'an unknown caller is not stored: me.creates': on('GET', /me$/, (asked) =>
    caller(asked) === '' ? asked.pass() : Response.json({ id: caller(asked), roles: [] }),
  ),
  'a new caller is an admin: me.creates': on('GET', /me$/, async ({ pass }) =>
    Response.json({ ...((await (await pass()).json()) as object), roles: ['admin'] }),
  ),
  'the anonymous caller is stored: me.anonymous': on('GET', /me$/, (asked) =>
    caller(asked) === '' ? asked.pass({ headers: { 'x-user-id': 'anonymous' } }) : asked.pass(),
  ),
  'a long header is 500: me.long': on('GET', /me$/, (asked) =>
    caller(asked).length > 1024 ? problem(500) : asked.pass(),
  ),
  'a long path is 500: path.limits': before(bundled(), ({ path, pass }) =>
    path.length > 1050 ? problem(500) : pass(),
  ),
  'a second revocation is 404: revoke.idempotent': on('DELETE', /roles/, ({ path, pass }) =>
    isNew(revoked, path) ? pass() : problem(404),
  ),
  'an unknown role is assigned: assign.unknown': on('POST', /roles$/, async ({ pass }) => {
    const response = await pass()
    return response.status === 404 ? new Response(null, { status: 204 }) : response
  }),
  'a role is held twice: assign.idempotent': on('GET', /users$/, async ({ pass }) => {
    const response = await pass()
    if (response.status !== 200) return response
    const { users } = (await response.json()) as { users: { roles: string[] }[] }
    return Response.json({ users: users.map((user) => ({ ...user, roles: [...user.roles, ...user.roles] })) })
  }),
  'assigning again is 409: assign.idempotent': on('POST', /roles$/, ({ path, pass }) =>
    isNew(assigned, path) ? pass() : problem(409),
  ),
  'a 204 with a body: revoke.answers': on('DELETE', /roles/, async ({ pass }) => {
    const response = await pass()
    return response.status === 204 ? Response.json({}, { status: 200 }) : response
  }),
  'a revoked admin keeps its rights: roles.effective': on('GET', /users$/, async (asked) => {
    const response = await asked.pass()
    if (response.status === 200) formerAdmins.add(caller(asked))
    return formerAdmins.has(caller(asked)) ? asked.pass(asAdmin) : response
  }),
}

describe('the suite of the authorization contract', () => {
  it('finds nothing wrong with the bundled implementation', async () => {
    const outcome = await judged('authz', bundled(), { admin: ADMIN })
    expect(brokenOf(outcome)).toEqual([])
    expect(outcome).toMatchObject({ conformant: true, skipped: 0 })
  })

  it('says what it could not see without an admin', async () => {
    const outcome = await judged('authz', bundled(false), {
      only: ['roles', 'me', 'admin', 'users', 'assign', 'revoke', 'path'],
    })
    expect(brokenOf(outcome)).toEqual([])
    const skipped = outcome.promises.filter((each) => each.reason?.includes('--admin')).map(({ id }) => id)
    expect(skipped).toEqual(
      expect.arrayContaining([
        'users.list',
        'assign.idempotent',
        'assign.unknown',
        'revoke.idempotent',
        'roles.effective',
        'assign.accepts',
      ]),
    )
  })

  it.each(Object.entries(DEFECTS))('finds %s', async (defect, handler) => {
    const promises = promisesOf(defect)
    const only = [...promises, 'check.accepts', 'check.required', 'roles.catalogue', 'me.anonymous', 'users.list']
    if (promises.includes('revoke.answers')) only.push('revoke.idempotent')
    expect(brokenOf(await judged('authz', handler, { admin: ADMIN, only }))).toEqual(expect.arrayContaining(promises))
  })
})
