import { describe, expect, it } from 'vitest'
import { readStaffEmails, resolveUser } from '../../src/access/users.ts'
import { provideDatabase } from '../helpers/postgres.ts'

const db = provideDatabase()

const identity = { issuer: 'https://issuer.example', email: 'ann@example.com', display_name: 'Ann', elevated: false }

describe('resolveUser', () => {
  it('creates a developer without panel role once', async () => {
    const first = await resolveUser(db.sql, { ...identity, subject: 'one' })
    expect(first).toMatchObject({
      issuer: identity.issuer,
      subject: 'one',
      email: 'ann@example.com',
      display_name: 'Ann',
    })
    expect(first).toMatchObject({ operation_role: 'developer', panel_role: null })
    expect(await resolveUser(db.sql, { ...identity, subject: 'one' })).toEqual(first)
  })

  it('keeps subjects and issuers apart', async () => {
    const [a, b, c] = await Promise.all([
      resolveUser(db.sql, { ...identity, subject: 'two' }),
      resolveUser(db.sql, { ...identity, subject: 'three' }),
      resolveUser(db.sql, { ...identity, subject: 'two', issuer: 'https://other.example' }),
    ])
    expect(new Set([a.id, b.id, c.id]).size).toBe(3)
  })

  it('creates one row when many first requests come together', async () => {
    const users = await Promise.all(
      Array.from({ length: 20 }, () => resolveUser(db.sql, { ...identity, subject: 'race' })),
    )
    expect(new Set(users.map((user) => user.id)).size).toBe(1)
  })

  it('writes changed claims and keeps what a token leaves out', async () => {
    const before = await resolveUser(db.sql, { ...identity, subject: 'four' })
    const changed = await resolveUser(db.sql, {
      ...identity,
      subject: 'four',
      email: 'new@example.com',
      display_name: null,
    })
    expect(changed).toMatchObject({ id: before.id, email: 'new@example.com', display_name: 'Ann' })
    const silent = await resolveUser(db.sql, { ...identity, subject: 'four', email: null, display_name: ' ' })
    expect(silent).toEqual(changed)
  })

  it('elevates on every request and never takes anything away', async () => {
    const id = { ...identity, subject: 'root' }
    expect(await resolveUser(db.sql, { ...id, elevated: true })).toMatchObject({
      operation_role: 'devops',
      panel_role: 'admin',
    })
    expect(await resolveUser(db.sql, id)).toMatchObject({ operation_role: 'devops', panel_role: 'admin' })
    await db.sql`UPDATE users SET operation_role = 'developer', panel_role = 'viewer' WHERE subject = 'root'`
    expect(await resolveUser(db.sql, id)).toMatchObject({ operation_role: 'developer', panel_role: 'viewer' })
    expect(await resolveUser(db.sql, { ...id, elevated: true })).toMatchObject({
      operation_role: 'devops',
      panel_role: 'admin',
    })
  })

  it('shows a role that was granted in the database at once', async () => {
    await resolveUser(db.sql, { ...identity, subject: 'granted' })
    await db.sql`UPDATE users SET panel_role = 'editor' WHERE subject = 'granted'`
    expect((await resolveUser(db.sql, { ...identity, subject: 'granted' })).panel_role).toBe('editor')
  })

  it('stores claims that do not fit', async () => {
    const awkward = { ...identity, subject: 'awkward', email: `${'x'.repeat(300)}@e\0`, display_name: 'a\0\ud800' }
    const user = await resolveUser(db.sql, awkward)
    expect(user).toMatchObject({ email: 'x'.repeat(254), display_name: 'a\ufffd' })
    expect(await resolveUser(db.sql, awkward)).toEqual(user)
  })

  it.each([
    { subject: 'x'.repeat(255) },
    { subject: 'a\0b' },
    { subject: '\ud800' },
    { subject: 'x', issuer: `https://${'i'.repeat(512)}` },
  ])('refuses an identity that cannot be stored', async (part) => {
    await expect(resolveUser(db.sql, { ...identity, ...part })).rejects.toMatchObject({ status: 401 })
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
