import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuthzApp, prepareStore, readSettings } from '../../../sidecars/authz/main.ts'
import { noticeUser, openRoleStore, type RoleStore } from '../../../sidecars/authz/role-store.ts'
import { SettingsError } from '../../../sidecars/shared/settings.ts'
import { createLogger } from '../../../src/base/log.ts'
import { brokenOf, judged, TOKEN } from '../../contracts/conformance/fakes/serve.ts'
import { type Contract, readContract } from '../contract.ts'

const ROOT = 'root@example.com'
const ASK = { cloud: 'aws', project: 'https://git.example.com/team/app' }

let contract: Contract
let path: string
let store: RoleStore
let log_lines: string[]
beforeAll(async () => {
  contract = await readContract('authz')
})
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'authz-')), 'deep', 'roles.json')
  store = openRoleStore(path)
  log_lines = []
})

const app = (options: { token?: string; permissive?: boolean } = {}) =>
  createAuthzApp({
    token: '',
    permissive: true,
    store,
    log: createLogger({ write: (line) => log_lines.push(line) }),
    ...options,
  })

const ask = (method: string, template: string, sent: Parameters<Contract['ask']>[3] = {}) =>
  contract.ask(app(), method, template, sent)
const check = (body: unknown, service = app()) => contract.ask(service, 'POST', '/v1/check', { body })
const by = (caller: string | null): Record<string, string> => (caller === null ? {} : { 'x-user-id': caller })
const users = (caller: string | null) => ask('GET', '/v1/users', { headers: by(caller) })
const assign = (caller: string | null, id: string, body: unknown) =>
  ask('POST', '/v1/users/{user_id}/roles', { path: `/v1/users/${id}/roles`, body, headers: by(caller) })
const revoke = (caller: string | null, id: string, role: string) =>
  ask('DELETE', '/v1/users/{user_id}/roles/{role}', {
    path: `/v1/users/${encodeURIComponent(id)}/roles/${role}`,
    headers: by(caller),
  })
const bootstrap = () => prepareStore(store, { path, rootAdminEmail: ROOT })

it('has the routes of its contract', () => {
  expect(contract.operations).toEqual([
    'DELETE /v1/users/{user_id}/roles/{role}',
    'GET /healthz',
    'GET /v1/roles',
    'GET /v1/users',
    'GET /v1/users/me',
    'POST /v1/check',
    'POST /v1/users/{user_id}/roles',
  ])
})

it('keeps the promises of its contract', async () => {
  await bootstrap()
  expect(brokenOf(await judged('authz', app({ token: TOKEN }).fetch, { admin: ROOT }))).toEqual([])
})

describe('check', () => {
  it.each([
    ['[]', 422],
    ['{', 400],
    ['', 400],
    [new Uint8Array([0x22, 0xff, 0x22]), 400],
  ])('answers %j as documented', async (body, status) => {
    expect((await check(body)).status).toBe(status)
  })

  it('grants everything while it is permissive, and says what it is', async () => {
    const reason = expect.stringContaining('reference')
    expect((await check(ASK)).body).toMatchObject({ authorized: true, portal_url: null, reason })
  })

  it('denies with cloud and project in the reason, within the limit', async () => {
    const body = { cloud: 'c'.repeat(32), project: 'p'.repeat(256) }
    const answer = await check(body, app({ permissive: false }))
    expect(answer).toMatchObject({ status: 200, body: { authorized: false, portal_url: null } })
    expect(answer.body.reason).toContain(`${body.cloud}/${body.project}`)
    expect(answer.body.reason.length).toBeLessThanOrEqual(1024)
  })

  it('touches no store', async () => {
    await check(ASK)
    expect(await readdir(join(path, '..')).catch(() => [])).toEqual([])
  })
})

describe('the calling user', () => {
  const me = (headers: Record<string, string>) => ask('GET', '/v1/users/me', { headers })

  it('is anonymous without an id, and nothing is stored', async () => {
    for (const headers of [{}, { 'x-user-id': '' }, { 'x-user-email': 'a@example.com' }] as Record<string, string>[])
      expect((await me(headers)).body).toEqual({ id: 'anonymous', email: null, name: null, roles: [] })
    expect((await store.read()).size).toBe(0)
  })

  it('is stored on first sight; an e-mail is filled in once', async () => {
    expect((await me({ 'x-user-id': 'u1' })).body).toEqual({ id: 'u1', email: null, name: null, roles: [] })
    expect((await me({ 'x-user-id': 'u1', 'x-user-email': 'a@example.com' })).body.email).toBe('a@example.com')
    expect((await me({ 'x-user-id': 'u1', 'x-user-email': 'b@example.com' })).body.email).toBe('a@example.com')
    await bootstrap()
    expect((await users(ROOT)).body.users.map(({ id }: { id: string }) => id).sort()).toEqual([ROOT, 'u1'].sort())
  })

  it('is clamped', async () => {
    const { body } = await me({ 'x-user-id': 'u'.repeat(4000), 'x-user-email': 'e'.repeat(4000) })
    expect([body.id.length, body.email.length]).toEqual([1024, 256])
  })

  it('may have any name', async () => {
    for (const id of ['__proto__', 'constructor', '../etc', 'a b'])
      expect((await me({ 'x-user-id': id })).body.id).toBe(id)
    expect([...(await openRoleStore(path).read()).keys()].sort()).toEqual(['../etc', '__proto__', 'a b', 'constructor'])
  })
})

describe('roles', () => {
  beforeEach(bootstrap)

  it('are listed, and a user who is given one has this form', async () => {
    const { roles } = (await ask('GET', '/v1/roles')).body
    expect(roles.map(({ name }: { name: string }) => name)).toEqual(['admin', 'user'])
    await assign(ROOT, 'u1', { role: 'user' })
    expect((await users(ROOT)).body.users).toContainEqual({ id: 'u1', email: null, name: null, roles: ['user'] })
  })

  it('must be in the catalogue to be assigned', async () => {
    const unknown = { status: 404, body: { title: 'Unknown role: owner' } }
    expect(await assign(ROOT, 'u1', { role: 'owner' })).toMatchObject(unknown)
  })

  it('make an admin of another', async () => {
    await assign(ROOT, 'u1', { role: 'admin' })
    expect((await users('u1')).status).toBe(200)
    await revoke('u1', ROOT, 'admin')
    expect((await users(ROOT)).status).toBe(403)
  })

  it.each([
    [null, 'X-User-Id header required for admin operations.'],
    ['', 'X-User-Id header required for admin operations.'],
    ['someone', 'Caller does not hold the admin role.'],
  ])('are no business of caller %j', async (caller, title) => {
    expect(await users(caller)).toMatchObject({ status: 403, body: { title } })
    expect(await assign(caller, 'u1', { role: 'user' })).toMatchObject({ status: 403, body: { title } })
    expect(await revoke(caller, 'u1', 'user')).toMatchObject({ status: 403, body: { title } })
    expect((await store.read()).has('u1')).toBe(false)
  })

  it('in a body that is no JSON are 400', async () => {
    expect((await assign(ROOT, 'u1', '{')).status).toBe(400)
  })
})

describe('role store', () => {
  it('survives the process and is readable', async () => {
    await bootstrap()
    expect(await readFile(path, 'utf8')).toBe(
      `{\n  "users": {\n    "${ROOT}": {\n      "email": "${ROOT}",\n      "id": "${ROOT}",\n` +
        '      "name": null,\n      "roles": [\n        "admin"\n      ]\n    }\n  }\n}\n',
    )
    expect((await openRoleStore(path).read()).get(ROOT)?.roles).toEqual(['admin'])
  })

  it('loses nothing of many writers', async () => {
    const writers = [store, openRoleStore(path), openRoleStore(path)]
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        writers[index % 3]?.change((found) => noticeUser(found, `u${index}`, null)),
      ),
    )
    expect((await store.read()).size).toBe(60)
    expect((await readdir(join(path, '..'))).sort()).toEqual(['roles.json'])
  })

  it('is changed at once after a process died while it held the lock', async () => {
    await bootstrap()
    const script = join(import.meta.dirname, 'fixtures/hold-lock.ts')
    const holder = spawn(process.execPath, [script, `${path}.lock`], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    expect(await readdir(dirname(path))).toContain('roles.json.lock')
    const before = performance.now()
    expect((await assign(ROOT, 'u1', { role: 'user' })).status).toBe(204)
    expect(performance.now() - before).toBeLessThan(3_000)
    expect(await readdir(dirname(path))).toEqual(['roles.json'])
  })

  it.each([
    ['another host', JSON.stringify({ host: 'another', pid: process.pid, started: 'then' })],
    ['a process that died before it wrote its name', ''],
  ])('ignores the old lock of %s', async (_holder, text) => {
    await bootstrap()
    await writeFile(`${path}.lock`, text)
    await utimes(`${path}.lock`, new Date(0), new Date(0))
    expect((await assign(ROOT, 'u1', { role: 'user' })).status).toBe(204)
  })

  it.each([
    '{"users": {"a"',
    '[]',
    '{"users": {"a": {"id": "a", "roles": "admin"}}}',
    '',
  ])('is refused when it is damaged: %s', async (text) => {
    await bootstrap()
    await writeFile(path, text)
    for (const answer of [
      await ask('GET', '/v1/users/me', { headers: { 'x-user-id': 'u1' } }),
      await users(ROOT),
      await assign(ROOT, 'u1', { role: 'user' }),
      await revoke(ROOT, 'u1', 'user'),
    ])
      expect(answer).toMatchObject({ status: 503, body: { title: 'The role store is damaged.' } })
    expect(await readFile(path, 'utf8')).toBe(text)
    expect((await check(ASK)).status).toBe(200)
    expect((await ask('GET', '/healthz')).status).toBe(200)
    expect(log_lines.join('\n')).toContain('left as it is')
    await expect(bootstrap()).rejects.toThrow(SettingsError)
    await expect(prepareStore(store, { path, rootAdminEmail: '' })).rejects.toThrow(/cannot be used/)
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  it('must be writable for a root admin', async () => {
    const inside = '/dev/null/roles.json'
    const prepared = prepareStore(openRoleStore(inside), { path: inside, rootAdminEmail: ROOT })
    await expect(prepared).rejects.toThrow(SettingsError)
  })
})

describe('settings', () => {
  it('have defaults', () => {
    expect(readSettings({})).toEqual({
      host: '127.0.0.1',
      port: 8083,
      token: '',
      permissive: true,
      roleStore: '/data/roles.json',
      rootAdminEmail: '',
    })
  })
  it.each([
    ['true', true],
    ['TRUE', true],
    ['false', false],
    ['1', false],
    ['', false],
    ['yes', false],
  ])('reads PLATFORM_AUTHZ_PERMISSIVE=%s as %s', (value, expected) => {
    expect(readSettings({ PLATFORM_AUTHZ_PERMISSIVE: value }).permissive).toBe(expected)
  })
})
