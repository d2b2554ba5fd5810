import { describe, expect, it } from 'vitest'
import { userActor } from '../../src/access/audit/record.ts'
import { bearerToken, toIdentity } from '../../src/access/authenticate.ts'
import type { Claims } from '../../src/access/verify-token.ts'
import { oidcConfig } from '../helpers/oidc-config.ts'

const identify = (claims: Claims, root = '', changes = {}) => toIdentity(claims, root, oidcConfig(changes))

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
    expect(identify({ ...claims, email: 'ada@example.org', name: 'Ada' }, '')).toEqual({
      issuer: 'https://issuer.example.org',
      subject: 'ada',
      email: 'ada@example.org',
      email_withdrawn: false,
      display_name: 'Ada',
      elevated: false,
    })
  })

  it('falls back to the preferred user name, and to nothing', () => {
    expect(identify({ ...claims, preferred_username: 'ada@corp' }, '').email).toBe('ada@corp')
    expect(identify({ ...claims, email: '', name: 7 }, '')).toMatchObject({ email: null, display_name: null })
  })

  it.each([
    ['verified', { email: 'Root@Example.org', email_verified: true }, true],
    ['unverified', { email: 'root@example.org', email_verified: false }, false],
    ['silent about it', { email: 'root@example.org' }, false],
    ['verified as text', { email: 'root@example.org', email_verified: 'true' }, false],
    ['another address', { email: 'ada@example.org', email_verified: true }, false],
    ['a user name that looks like it', { preferred_username: 'root@example.org', email_verified: true }, false],
  ])('elevates the root address: %s', (_, more, elevated) => {
    expect(identify({ ...claims, ...more }, ' ROOT@example.org ').elevated).toBe(elevated)
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
      expect(identify({ ...claims, ...claim, email_verified }, '')).toMatchObject({
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
    const identity = identify({ ...claims, ...more }, '', { require_verified_email: true })
    expect(identity).toMatchObject({ email, email_withdrawn: email === null })
  })

  it.each(['platform', ' Platform ', 'USER-17'])('lets nobody be called %j', (name) => {
    expect(identify({ ...claims, email: name }, '')).toMatchObject({ email: null, email_withdrawn: true })
    expect(userActor({ id: 3, email: null, display_name: name }, null).name).toBe('user-3')
  })

  it('shows the display name of a user without an e-mail, unless it reads like the e-mail of somebody', () => {
    const actor = (display_name: string) => userActor({ id: 3, email: null, display_name }, null).name
    expect([actor('Ada of the platform'), actor('victim@example.org')]).toEqual(['Ada of the platform', 'user-3'])
  })

  it('reads the e-mail and its verification where the operator says', () => {
    const email_claim = 'https://example.com/email'
    const named = { ...claims, email: 'other@example.org', [email_claim]: 'Root@example.org' }
    expect(identify(named, 'root@example.org', { email_claim })).toMatchObject({
      email: 'Root@example.org',
      elevated: false,
    })
    const naming = { email_claim, email_verified_claim: 'xms_edov', require_verified_email: true }
    expect(identify({ ...named, email_verified: true }, '', naming)).toMatchObject({ email: null })
    for (const [xms_edov, elevated] of [
      [true, true],
      ['1', false],
    ])
      expect(identify({ ...named, xms_edov }, 'root@example.org', naming).elevated).toBe(elevated)
  })

  it('elevates nobody when no address is configured', () => {
    expect(identify({ ...claims, email: '', email_verified: true }, ' ').elevated).toBe(false)
  })
})
