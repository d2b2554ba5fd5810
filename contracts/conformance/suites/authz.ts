import { bodyPromises } from '../promises/bodies.ts'
import { isRefusal, policyFor } from '../promises/policy.ts'
import { tokenPromises } from '../promises/token.ts'
import { healthPromises, transportPromises } from '../promises/transport.ts'
import { isRecord } from '../schema/schema.ts'
import { type Check, check, type Exchange, type Options, type Tester } from '../types.ts'

const NO_ADMIN = 'needs a caller with the role admin: name one with --admin'

/** Returns the promises of `contracts/authz.v1.yaml`. The suite cannot judge whether a decision is right. */
export function authzSuite(options: Options): Check[] {
  const { contract, token, admin } = options
  const operation = contract.operation
  const caller: Record<string, string> = admin === null ? {} : { 'x-user-id': admin }
  const decision = policyFor(operation('check'), [200, 502], { tokenFirst: false })
  const assign = policyFor(operation('assign'), [204, 404], {
    call: { headers: caller, path: { user_id: 'conformance-target' } },
    tokenFirst: false,
    blocked: admin === null ? NO_ADMIN : null,
  })
  const others = ['me', 'roles', 'users', 'revoke'].map((id) =>
    policyFor(operation(id), [200, 204], { call: { headers: caller } }),
  )

  return [
    ...healthPromises(contract),
    ...tokenPromises([decision, assign, ...others], token),
    ...bodyPromises(decision),
    check('check.decision', 'A decision, granted or denied, is answered with 200', async (tester) => {
      for (const json of [
        { cloud: 'aws', project: 'p' },
        { user_id: null, cloud: 'no-such-cloud', project: 'https://git.example.com/team/app', environment: null },
        { user_id: 'nobody@example.com', cloud: 'gcp', project: 'x'.repeat(256), environment: 'prod' },
        { user_id: 'x'.repeat(1024), cloud: 'c'.repeat(32), project: '漢'.repeat(256), environment: 'e'.repeat(32) },
      ]) {
        const made = await tester.ask(decision.operation, { json })
        if (made.status === 502) tester.skip('the backend of the service is not usable: it answered 502')
        if (!tester.expectStatus(made, 200)) continue
        tester.expectBody(made, (json) => typeof json.authorized === 'boolean', 'authorized is not true or false')
      }
    }),
    check('check.announced', 'The further keys that the service asks for are taken', async (tester) => {
      const made = await tester.ask(decision.operation, { json: { cloud: 'aws', project: 'p' } })
      const wanted = (made.headers.get('x-check-fields') ?? '').split(',').map((key) => key.trim())
      const sent = Object.entries(ANNOUNCED).filter(([key]) => wanted.includes(key))
      if (sent.length === 0) tester.skip('optional, and this implementation asks for none')
      const json = { cloud: 'aws', project: 'p', ...Object.fromEntries(sent) }
      tester.expectStatus(await tester.ask(decision.operation, { json }), 200)
    }),
    ...bodyPromises(assign),
    ...authzRolePromises(options, NO_ADMIN),
    ...transportPromises(contract.operations),
  ]
}

/** A longest value of each key that a service may ask for. */
const ANNOUNCED = {
  issuer: `https://${'i'.repeat(504)}`,
  subject: 's'.repeat(254),
  scope_id: '漢'.repeat(1016),
}

const MAX_ID = 1024
const MAX_ROLE = 64

/** Returns the promises about users and roles. The suite revokes roles that it has assigned; user records stay. */
function authzRolePromises(options: Options, noAdmin: string): Check[] {
  const kit = createKit(options, noAdmin)
  return [...callerPromises(options, kit), ...adminPromises(options, kit)]
}

/** Builds the requests that the promises below share. */
function createKit({ contract, admin }: Options, noAdmin: string) {
  const me = contract.operation('me')
  const roles = contract.operation('roles')
  const users = contract.operation('users')
  const assign = contract.operation('assign')
  const revoke = contract.operation('revoke')
  const as = (id: string) => ({ 'x-user-id': id })
  const asAdmin = (tester: Tester) => (admin === null ? tester.skip(noAdmin) : as(admin))
  const freshId = () => `conformance-${crypto.randomUUID()}`
  /** Returns an assignable role, other than admin if there is one. */
  const someRole = async (tester: Tester) => {
    const names = namesOf(await tester.ask(roles))
    return names.find((name) => name !== 'admin') ?? 'admin'
  }
  const grant = (tester: Tester, userId: string, role: string, headers: Record<string, string>) =>
    tester.ask(assign, { path: { user_id: userId }, json: { role }, headers })
  const take = (tester: Tester, userId: string, role: string, headers: Record<string, string>) =>
    tester.ask(revoke, { path: { user_id: userId, role }, headers })
  const rolesOf = async (tester: Tester, id: string) => rolesIn((await tester.ask(me, { headers: as(id) })).json)
  return { me, roles, users, assign, revoke, as, asAdmin, freshId, someRole, grant, take, rolesOf }
}

function callerPromises({ admin }: Options, kit: Kit): Check[] {
  const { me, roles, users, as, freshId, someRole, grant, take, rolesOf } = kit
  return [
    check('roles.catalogue', 'The catalogue of roles holds admin', async (tester) => {
      const made = await tester.ask(roles)
      tester.expect(namesOf(made).includes('admin'), 'admin is not among them', made)
    }),
    check('me.anonymous', 'A caller without an id is anonymous, has no roles and is not stored', async (tester) => {
      const nameless: Headers[] = [{}, { 'x-user-id': '' }, { 'x-user-email': 'conformance@example.com' }]
      for (const headers of nameless) {
        const made = await tester.ask(me, { headers })
        const { json } = made
        tester.expect(
          isRecord(json) && json.id === 'anonymous' && rolesIn(json).length === 0,
          'another user was answered',
          made,
        )
      }
      if (admin === null) return
      const made = await tester.ask(users, { headers: as(admin) })
      tester.expect(
        !idsOf(made).includes('anonymous') && !idsOf(made).includes(''),
        'the anonymous caller is stored',
        made,
      )
    }),
    check('me.creates', 'A caller that is not known yet is stored without roles', async (tester) => {
      const id = freshId()
      for (let index = 0; index < 2; index++) {
        const made = await tester.ask(me, { headers: { ...as(id), 'x-user-email': `${id}@example.com` } })
        tester.expectStatus(made, 200, 'the caller')
        tester.expectBody(made, (json) => json.id === id, 'the record has another id')
        tester.expect(rolesIn(made.json).length === 0, 'the new user has roles', made)
      }
      if (admin === null) return
      const made = await tester.ask(users, { headers: as(admin) })
      tester.expect(
        idsOf(made).filter((each) => each === id).length === 1,
        'the list of users does not hold the new one once',
        made,
      )
    }),
    check('me.long', 'Headers of any length and content are no fault of the service', async (tester) => {
      for (const value of [
        'x'.repeat(1025),
        'x'.repeat(4000),
        '\u00e4\u00f6\u00fc',
        ' padded ',
        '__proto__',
        'a,b',
        '{"id": 1}',
      ])
        for (const headers of [as(value), { ...as('conformance-long'), 'x-user-email': value }]) {
          const made = await tester.ask(me, { headers })
          tester.expect(made.status < 500, `answered ${made.status}`, made)
        }
      for (const value of ['x'.repeat(4000), '__proto__', 'constructor']) {
        const made = await tester.ask(users, { headers: as(value) })
        tester.expectStatus(made, 403, `a list of users for ${value.slice(0, 20)}`)
      }
    }),
    check(
      'admin.refused',
      'Only a caller with the role admin lists users, assigns and revokes: 403 for everybody else',
      async (tester) => {
        const target = freshId()
        const role = await someRole(tester)
        const others: Headers[] = [{}, { 'x-user-id': '' }, as(freshId()), as('anonymous')]
        if (admin !== null) others.push(as(`${admin}x`), { 'x-user-email': admin })
        for (const headers of others) {
          tester.expectStatus(await tester.ask(users, { headers }), 403, 'the list of users')
          tester.expectStatus(await grant(tester, target, role, headers), 403, 'assigning')
          tester.expectStatus(await take(tester, target, role, headers), 403, 'revoking')
        }
        const left = await rolesOf(tester, target)
        tester.expect(left.length === 0, `a refused assignment left the roles ${left.join(', ')}`)
      },
    ),
  ]
}

function adminPromises({ admin }: Options, kit: Kit): Check[] {
  const { users, as, asAdmin, freshId, someRole, grant, take, rolesOf } = kit
  return [
    check('users.list', 'An admin lists the users, itself among them with the role admin', async (tester) => {
      const headers = asAdmin(tester)
      const made = await tester.ask(users, { headers })
      tester.expectStatus(made, 200, 'the list of users')
      const own = usersIn(made).find((user) => user.id === admin)
      tester.expect(own !== undefined && rolesIn(own).includes('admin'), 'the admin is not among them', made)
    }),
    check(
      'assign.idempotent',
      'Assigning answers 204, creates the record, holds once, and may be repeated',
      async (tester) => {
        const headers = asAdmin(tester)
        for (const id of [freshId(), `${freshId()}/with slash?&#ü`]) {
          const role = await someRole(tester)
          for (let index = 0; index < 2; index++)
            tester.expectStatus(await grant(tester, id, role, headers), 204, 'assigning')
          const made = await tester.ask(users, { headers })
          const matches = usersIn(made).filter((user) => user.id === id)
          tester.expect(
            matches.length === 1 && rolesIn(matches[0]).filter((each) => each === role).length === 1,
            'the user does not hold the role once',
            made,
          )
          await take(tester, id, role, headers)
        }
      },
    ),
    check('assign.unknown', 'A role that is not in the catalogue is 404 and changes nothing', async (tester) => {
      const headers = asAdmin(tester)
      const id = freshId()
      for (const role of ['conformance-no-such-role', 'Admin', 'admin ', '__proto__'])
        tester.expectStatus(await grant(tester, id, role, headers), 404, `the role ${JSON.stringify(role)}`)
      tester.expect((await rolesOf(tester, id)).length === 0, 'the user has a role now')
    }),
    check(
      'revoke.idempotent',
      'Revoking answers 204, also for a role that is not held and for an unknown user or role',
      async (tester) => {
        const headers = asAdmin(tester)
        const id = freshId()
        const role = await someRole(tester)
        await grant(tester, id, role, headers)
        for (let index = 0; index < 2; index++) {
          tester.expectStatus(await take(tester, id, role, headers), 204, 'revoking')
          tester.expect(!(await rolesOf(tester, id)).includes(role), 'the user still holds the role')
        }
        tester.expectStatus(await take(tester, freshId(), role, headers), 204, 'an unknown user')
        tester.expectStatus(await take(tester, id, 'conformance-no-such-role', headers), 204, 'an unknown role')
      },
    ),
    check(
      'path.limits',
      'Ids and roles in the path are taken up to their limits, over-long ones refused with 4xx',
      async (tester) => {
        const headers = admin === null ? {} : as(admin)
        if (admin !== null)
          for (const userId of ['x'.repeat(MAX_ID), 'ü'.repeat(MAX_ID), '😀'.repeat(MAX_ID / 2 + 1)])
            tester.expectStatus(await take(tester, userId, 'r'.repeat(MAX_ROLE), headers), 204, 'revoking at the limit')
        for (const [user_id, role] of [
          ['x'.repeat(MAX_ID + 1), 'user'],
          ['x'.repeat(8000), 'user'],
          ['u', 'r'.repeat(MAX_ROLE + 1)],
        ] as const) {
          const revoked = await take(tester, user_id, role, headers)
          tester.expect(isRefusal(revoked.status), `revoking: answered ${revoked.status}`, revoked)
          const assigned = await grant(tester, user_id, role, headers)
          tester.expect(isRefusal(assigned.status), `assigning: answered ${assigned.status}`, assigned)
        }
      },
    ),
    check(
      'roles.effective',
      'The role admin takes effect with its assignment and ends with its revocation',
      async (tester) => {
        const headers = asAdmin(tester)
        const id = freshId()
        await grant(tester, id, 'admin', headers)
        tester.expectStatus(await tester.ask(users, { headers: as(id) }), 200, 'the list of users for a new admin')
        tester.expectStatus(await take(tester, id, 'admin', headers), 204, 'revoking')
        tester.expectStatus(await tester.ask(users, { headers: as(id) }), 403, 'the list of users for a former admin')
      },
    ),
  ]
}

type Kit = ReturnType<typeof createKit>
type Headers = Record<string, string>

const recordsIn = (json: unknown, key: string): Record<string, unknown>[] =>
  isRecord(json) && Array.isArray(json[key]) ? json[key].filter(isRecord) : []
const usersIn = ({ json }: Exchange) => recordsIn(json, 'users')
const idsOf = (made: Exchange) => usersIn(made).map((user) => user.id)
const namesOf = ({ json }: Exchange) =>
  recordsIn(json, 'roles').flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
const rolesIn = (user: unknown): unknown[] => (isRecord(user) && Array.isArray(user.roles) ? user.roles : [])
