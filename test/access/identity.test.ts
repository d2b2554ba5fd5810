import { describe, expect, it } from 'vitest'
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

  it('elevates nobody when no address is configured', () => {
    expect(toIdentity({ ...claims, email: '', email_verified: true }, ' ').elevated).toBe(false)
  })
})
