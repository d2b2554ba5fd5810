import { describe, expect, it } from 'vitest'
import { userActor } from '../../src/access/audit/record.ts'
import { bearerToken, toIdentity } from '../../src/access/authenticate.ts'

describe('bearer header', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER   abc ', 'abc'],
    ['Basic abc', null],
    ['Bearer', null],
    ['Bearer ', null],
    ['abc', null],
    ['', null],
    [null, null],
  ])('%j holds %j', (header, token) => {
    expect(bearerToken(header)).toBe(token)
  })
})

describe('identity', () => {
  const claims = { iss: 'https://issuer.example.org/', sub: 'ada' }

  it('reads names and drops the slash of the issuer', () => {
    expect(toIdentity({ ...claims, email: 'ada@example.org', name: 'Ada' }, '')).toEqual({
      issuer: 'https://issuer.example.org',
      subject: 'ada',
      email: 'ada@example.org',
      email_withdrawn: false,
      display_name: 'Ada',
      elevated: false,
    })
  })

  it('falls back to the preferred user name, and to nothing', () => {
    expect(toIdentity({ ...claims, preferred_username: 'ada@corp' }, '').email).toBe('ada@corp')
    expect(toIdentity({ ...claims, email: '', name: 7 }, '')).toMatchObject({ email: null, display_name: null })
  })

  it.each([
    ['verified', { email: 'Root@Example.org', email_verified: true }, true],
    ['unverified', { email: 'root@example.org', email_verified: false }, false],
    ['silent about it', { email: 'root@example.org' }, false],
    ['verified as text', { email: 'root@example.org', email_verified: 'true' }, false],
    ['another address', { email: 'ada@example.org', email_verified: true }, false],
    ['a user name that looks like it', { preferred_username: 'root@example.org', email_verified: true }, false],
  ])('elevates the root address: %s', (_, more, elevated) => {
    expect(toIdentity({ ...claims, ...more }, ' ROOT@example.org ').elevated).toBe(elevated)
  })

  it.each([
    [false, null],
    ['false', null],
    [null, null],
    [0, null],
    [true, 'ada@example.org'],
    ['true', 'ada@example.org'],
    [undefined, 'ada@example.org'],
  ])('takes an e-mail by its verification: %j', (email_verified, email) => {
    for (const claim of [{ email: 'ada@example.org' }, { preferred_username: 'ada@example.org' }])
      expect(toIdentity({ ...claims, ...claim, email_verified }, '')).toMatchObject({
        email,
        email_withdrawn: email === null,
      })
  })

  it.each([
    [{ email: 'ada@example.org', email_verified: true }, 'ada@example.org'],
    [{ email: 'ada@example.org', email_verified: 'true' }, null],
    [{ email: 'ada@example.org' }, null],
    [{ preferred_username: 'ada@example.org', email_verified: true }, null],
    [{}, null],
  ])('takes verified e-mails alone where they are required: %j', (more, email) => {
    const identity = toIdentity({ ...claims, ...more }, '', { require_verified_email: true })
    expect(identity).toMatchObject({ email, email_withdrawn: email === null })
  })

  it.each(['platform', ' Platform ', 'USER-17'])('lets nobody be called %j', (name) => {
    expect(toIdentity({ ...claims, email: name }, '')).toMatchObject({ email: null, email_withdrawn: true })
    expect(userActor({ id: 3, email: null, display_name: name }, null).name).toBe('user-3')
  })

  it('shows the display name of a user without an e-mail, unless it reads like the e-mail of somebody', () => {
    const actor = (display_name: string) => userActor({ id: 3, email: null, display_name }, null).name
    expect([actor('Ada of the platform'), actor('victim@example.org')]).toEqual(['Ada of the platform', 'user-3'])
  })

  it('elevates nobody when no address is configured', () => {
    expect(toIdentity({ ...claims, email: '', email_verified: true }, ' ').elevated).toBe(false)
  })
})
