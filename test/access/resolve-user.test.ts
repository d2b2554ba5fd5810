import { describe, expect, it } from 'vitest'
import { readStaffEmails, resolveUser } from '../../src/access/users.ts'
import { provideDatabase } from '../helpers/postgres.ts'

const db = provideDatabase()

const identity = { issuer: 'https://issuer.example', email: 'ann@example.com', display_name: 'Ann', elevated: false }
const resolve = (subject: string, changes: Partial<Parameters<typeof resolveUser>[1]> = {}) =>
  resolveUser(db.sql, { ...identity, subject, ...changes })
const ROOT_ROLES = { operation_role: 'devops', panel_role: 'admin' }

describe('resolveUser', () => {
  it('creates a developer without panel role once', async () => {
    const first = await resolve('one')
    const { elevated: _, ...stored } = identity
    expect(first).toMatchObject({ ...stored, subject: 'one', operation_role: 'developer', panel_role: null })
    expect(await resolve('one')).toEqual(first)
  })

  it('keeps subjects and issuers apart', async () => {
    const [a, b, c] = await Promise.all([
      resolve('two'),
      resolve('three'),
      resolve('two', { issuer: 'https://other.example' }),
    ])
    expect(new Set([a.id, b.id, c.id]).size).toBe(3)
  })

  it('creates one row when many first requests come together', async () => {
    const users = await Promise.all(Array.from({ length: 20 }, () => resolve('race')))
    expect(new Set(users.map((user) => user.id)).size).toBe(1)
  })

  it('writes changed claims and keeps what a token leaves out', async () => {
    const before = await resolve('four')
    const changed = await resolve('four', { email: 'new@example.com', display_name: null })
    expect(changed).toMatchObject({ id: before.id, email: 'new@example.com', display_name: 'Ann' })
    const silent = await resolve('four', { email: null, display_name: ' ' })
    expect(silent).toEqual(changed)
  })

  it('elevates on every request and never takes anything away', async () => {
    expect(await resolve('root', { elevated: true })).toMatchObject(ROOT_ROLES)
    expect(await resolve('root')).toMatchObject(ROOT_ROLES)
    await db.sql`UPDATE users SET operation_role = 'developer', panel_role = 'viewer' WHERE subject = 'root'`
    expect(await resolve('root')).toMatchObject({ operation_role: 'developer', panel_role: 'viewer' })
    expect(await resolve('root', { elevated: true })).toMatchObject(ROOT_ROLES)
  })

  it('shows a role that was granted in the database at once', async () => {
    await resolve('granted')
    await db.sql`UPDATE users SET panel_role = 'editor' WHERE subject = 'granted'`
    expect((await resolve('granted')).panel_role).toBe('editor')
  })

  it('stores claims that do not fit', async () => {
    const awkward = { email: `${'x'.repeat(300)}@e\0`, display_name: 'a\0\ud800' }
    const user = await resolve('awkward', awkward)
    expect(user).toMatchObject({ email: 'x'.repeat(254), display_name: 'a\ufffd' })
    expect(await resolve('awkward', awkward)).toEqual(user)
  })

  it.each([
    { subject: 'x'.repeat(255) },
    { subject: 'a\0b' },
    { subject: '\ud800' },
    { subject: 'x', issuer: `https://${'i'.repeat(512)}` },
  ])('refuses an identity that cannot be stored', async ({ subject, ...part }) => {
    await expect(resolve(subject, part)).rejects.toMatchObject({ status: 401 })
  })
})

describe('readStaffEmails', () => {
  it('names editors and admins in order', async () => {
    await db.sql`DELETE FROM users`
    await db.sql`
      INSERT INTO users (issuer, subject, email, panel_role) VALUES
        ('i', 'a', 'admin@e', 'admin'), ('i', 'b', 'viewer@e', 'viewer'), ('i', 'c', 'editor@e', 'editor'),
        ('i', 'd', NULL, 'admin'), ('i', 'e', 'none@e', NULL), ('i', 'f', '', 'editor')`
    expect(await readStaffEmails(db.sql)).toEqual(['admin@e', 'editor@e'])
  })
})
