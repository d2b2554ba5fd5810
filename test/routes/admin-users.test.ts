import { beforeEach, describe, expect, it } from 'vitest'
import type { User } from '../../src/access/users.ts'
import { answerOf, callOf, refusalOf } from '../helpers/core.ts'
import { createUser } from '../helpers/sessions.ts'
import { provideSignedInCore } from '../helpers/signed-in-core.ts'

const ITEM = ['id', 'email', 'display_name', 'operation_role', 'panel_role', 'issuer', 'subject', 'created_at']
const core = provideSignedInCore('admin: { default_root_email: root@example.org }')
let admin: User
let ann: User

beforeEach(async () => {
  const { sql } = core.database
  await sql`TRUNCATE users RESTART IDENTITY CASCADE`
  admin = await createUser(sql, 'admin', { panel_role: 'admin' })
  ann = await createUser(sql, 'ann', { panel_role: 'editor' })
  await createUser(sql, 'mute', { email: null })
  await sql`UPDATE users SET display_name = 'Ann_100% Smith' WHERE id = ${ann.id}`
})

const list = async (query = '') => (await core.as('admin', 'GET', `/api/v1/admin/users?${query}`)).json()
const assign = (id: number | string, json: unknown) => core.as('admin', 'PUT', `/api/v1/admin/users/${id}/roles`, json)
const rolesOf = async (id: number) => {
  const [row] = await core.database.sql`SELECT operation_role, panel_role FROM users WHERE id = ${id}`
  return row
}

describe('GET /api/v1/admin/users', () => {
  it('lists everybody, oldest first, with issuer and subject', async () => {
    const page = await list()
    expect(page).toMatchObject({ total: 3, page: 1, page_size: 20, total_pages: 1 })
    expect(Object.keys(page)).toEqual(['items', 'total', 'page', 'page_size', 'total_pages'])
    for (const item of page.items) expect(Object.keys(item)).toEqual(ITEM)
    expect(page.items).toMatchObject([
      { id: admin.id, subject: 'admin', panel_role: 'admin' },
      {
        id: ann.id,
        email: 'ann@example.org',
        display_name: 'Ann_100% Smith',
        issuer: 'https://issuer.example.org',
        panel_role: 'editor',
      },
      { subject: 'mute', email: null, display_name: null, operation_role: 'developer', panel_role: null },
    ])
    expect(page.items[0].created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  })

  it.each([
    ['ann@EXAMPLE', ['ann']],
    ['example.org', ['admin', 'ann']],
    ['smith', ['ann']],
    ['100%', ['ann']],
    ['n_1', ['ann']],
    ['%', ['ann']],
    ['_', ['ann']],
    ['a\\', []],
    ['mute', []],
    ['', ['admin', 'ann', 'mute']],
    ['  ', ['admin', 'ann', 'mute']],
  ])('finds e-mails and display names by %j', async (search, subjects) => {
    const page = await list(new URLSearchParams({ search }).toString())
    expect(page.items.map(({ subject }: { subject: string }) => subject)).toEqual(subjects)
    expect(page.total).toBe(subjects.length)
  })

  it('pages, also beyond the end', async () => {
    expect(await list('page_size=2&page=2')).toMatchObject({
      total: 3,
      total_pages: 2,
      page: 2,
      page_size: 2,
      items: [{ subject: 'mute' }],
    })
    expect(await list('page=2147483647&page_size=100')).toMatchObject({ total: 3, items: [] })
    expect(await list('search=nobody')).toMatchObject({ total: 0, total_pages: 0, items: [] })
  })

  it.each([
    ['page=0', 'greater_than_equal'],
    ['page_size=0', 'greater_than_equal'],
    ['page_size=101', 'less_than_equal'],
    ['page=x', 'int_parsing'],
    [`search=${'x'.repeat(255)}`, 'string_too_long'],
  ])('refuses %s', async (query, type) => {
    expect(await refusalOf(core.as('admin', 'GET', `/api/v1/admin/users?${query}`))).toMatchObject([
      422,
      [{ type, loc: ['query', query.split('=')[0]] }],
    ])
  })

  it('takes 100 a page and a search of 254 characters', async () => {
    expect(await list(`page_size=100&search=${encodeURIComponent('😀'.repeat(254))}`)).toMatchObject({
      page_size: 100,
      items: [],
    })
  })
})

describe('PUT /api/v1/admin/users/{user_id}/roles', () => {
  it('answers the whole user with the new roles, in force on the next request', async () => {
    const before = (await list()).items[1]
    expect((await core.as('ann', 'GET', '/api/v1/admin/users')).status).toBe(403)
    expect(await answerOf(assign(ann.id, { operation_role: 'devops', panel_role: 'admin', other: 1 }))).toEqual([
      200,
      { ...before, operation_role: 'devops', panel_role: 'admin' },
    ])
    expect((await core.as('ann', 'GET', '/api/v1/admin/users')).status).toBe(200)
    expect(await (await core.as('ann', 'GET', '/api/v1/users/me')).json()).toMatchObject({
      operation_role: 'devops',
      panel_role: 'admin',
    })
  })

  it.each([
    { operation_role: 'devops' },
    { operation_role: 'devops', panel_role: null },
  ])('takes away what is not named: %j', async (json) => {
    expect(await (await assign(ann.id, json)).json()).toMatchObject({ operation_role: 'devops', panel_role: null })
    expect(await refusalOf(core.as('ann', 'GET', '/api/v1/admin/sessions/list'))).toEqual([
      403,
      "Requires admin-panel role 'viewer' or higher",
    ])
  })

  it('lets admins change what they may do, but not cease to be admins', async () => {
    expect(await answerOf(assign(admin.id, { operation_role: 'devops', panel_role: 'admin' }))).toMatchObject([
      200,
      { operation_role: 'devops', panel_role: 'admin' },
    ])
    for (const rest of [{ panel_role: 'viewer' }, { panel_role: 'editor' }, { panel_role: null }, {}]) {
      expect(await refusalOf(assign(admin.id, { operation_role: 'developer', ...rest }))).toEqual([
        409,
        'A panel admin cannot remove their own admin role',
      ])
    }
    expect(await rolesOf(admin.id)).toEqual({ operation_role: 'devops', panel_role: 'admin' })
    await assign(ann.id, { operation_role: 'developer', panel_role: 'admin' })
    expect(
      await answerOf(core.as('ann', 'PUT', `/api/v1/admin/users/${admin.id}/roles`, { operation_role: 'developer' })),
    ).toMatchObject([200, { panel_role: null }])
  })

  it('answers 404 for an unknown user', async () => {
    for (const id of [999999, 0, -1, 2147483647]) {
      expect(await refusalOf(assign(id, { operation_role: 'developer' }))).toEqual([404, `User ${id} not found.`])
    }
  })

  it.each([
    [{}, 'missing', 'operation_role'],
    [{ panel_role: 'admin' }, 'missing', 'operation_role'],
    [{ operation_role: null }, 'enum', 'operation_role'],
    [{ operation_role: 'Devops' }, 'enum', 'operation_role'],
    [{ operation_role: 'admin' }, 'enum', 'operation_role'],
    [{ operation_role: 'devops', panel_role: 'devops' }, 'enum', 'panel_role'],
    [{ operation_role: 'devops', panel_role: '' }, 'enum', 'panel_role'],
  ])('refuses %j before it looks for the user or for who asks, and changes nothing', async (json, type, key) => {
    for (const id of [ann.id, admin.id, 999999]) {
      expect(await refusalOf(assign(id, json))).toMatchObject([422, [{ type, loc: ['body', key] }]])
    }
    expect(await rolesOf(ann.id)).toEqual({ operation_role: 'developer', panel_role: 'editor' })
  })

  it.each([
    'x',
    '1.5',
    '1e3',
    '0x1',
    'null',
    '%00',
    '9'.repeat(400),
    '2147483648',
    `-${'9'.repeat(20)}`,
  ])('refuses the key %s', async (id) => {
    expect(await refusalOf(assign(id, { operation_role: 'developer' }))).toMatchObject([
      422,
      [{ loc: ['path', 'user_id'] }],
    ])
  })

  it('does not last for the root address', async () => {
    const claims = { email: 'root@example.org', email_verified: true }
    const root = await (await core.as('root', 'GET', '/api/v1/users/me', undefined, claims)).json()
    expect(await answerOf(assign(root.id, { operation_role: 'developer' }))).toMatchObject([
      200,
      { operation_role: 'developer', panel_role: null },
    ])
    const again = await core.as('root', 'GET', '/api/v1/users/me', undefined, claims)
    expect(await again.json()).toMatchObject({ operation_role: 'devops', panel_role: 'admin' })
  })

  it('holds for the local developer as well', async () => {
    const call = callOf(await core.another({ yaml: 'admin: {}' }))
    const { id } = await (await call('GET', '/api/v1/users/me')).json()
    const answer = call('PUT', `/api/v1/admin/users/${id}/roles`, { json: { operation_role: 'devops' } })
    expect(await refusalOf(answer)).toEqual([409, 'A panel admin cannot remove their own admin role'])
  })
})

it('nothing deletes a user or a session', async () => {
  for (const path of [
    '/api/v1/admin/users',
    `/api/v1/admin/users/${ann.id}`,
    '/api/v1/admin/sessions',
    '/api/v1/users/me',
    '/api/v1/sessions',
  ])
    expect((await core.as('admin', 'DELETE', path)).status, path).toBeOneOf([404, 405])
  expect(await list()).toMatchObject({ total: 3 })
})
