import { describe, expect, test } from 'vitest'
import { load, problemsOf } from './support.ts'

describe('oidc', () => {
  test('an issuer needs a client id', async () => {
    expect(await problemsOf('oidc: {issuer_url: "https://idp.example.com", client_id: "  "}')).toEqual([
      'oidc.issuer_url is set but oidc.client_id is empty; set oidc.client_id (and optionally oidc.audience) in ' +
        'config.yaml.',
    ])
  })

  test('the placeholder in the scope needs a client id, with or without an issuer', async () => {
    const text = 'oidc.scope references {client_id} but oidc.client_id is empty.'
    expect(await problemsOf('oidc: {scope: "openid api://{client_id}/x"}')).toEqual([text])
    expect(await problemsOf('oidc: {issuer_url: "https://idp.example.com", scope: "{client_id}"}')).toContain(text)
  })

  test.each([
    [
      'expanded',
      'scope: "openid api://{client_id}/x {client_id}"',
      'https://idp.example.com',
      'openid api://web/x web',
    ],
    ['default', '', 'https://idp.example.com', 'openid profile email'],
    ['default, Microsoft', '', 'https://login.microsoftonline.com/t/v2.0', 'openid profile email api://web/.default'],
    [
      'default written out, Microsoft',
      'scope: openid profile email',
      'https://LOGIN.microsoftonline.com/t/',
      'openid profile email api://web/.default',
    ],
    ['own scope, Microsoft', 'scope: openid', 'https://login.microsoftonline.com/t/v2.0', 'openid'],
    ['host in the path only', '', 'https://idp.example.com/login.microsoftonline.com', 'openid profile email'],
    ['look-alike host', '', 'https://login.microsoftonline.com.evil.example', 'openid profile email'],
    ['no issuer', '', '', 'openid profile email'],
  ])('scope %s', async (_name, scope, issuer, expected) => {
    const config = await load(`oidc:\n  issuer_url: "${issuer}"\n  client_id: web\n  ${scope}`)
    expect(config.oidc.scope).toBe(expected)
  })

  test.each([
    ['', '', false],
    ['', 'https://idp.example.com', true],
    ['always', '', true],
    ['never', 'https://idp.example.com', false],
  ])('admin.unlock_by_another "%s" with the issuer "%s" is %s', async (rule, issuer, expected) => {
    const admin = rule && `admin: { unlock_by_another: ${rule} }`
    const config = await load(`oidc: { issuer_url: "${issuer}", client_id: web }\n${admin}`)
    expect(config.admin.unlock_by_another).toBe(expected)
  })

  test('a client id with replacement patterns is inserted as it is', async () => {
    expect((await load('oidc: {client_id: "a$&b", scope: "x {client_id}"}')).oidc.scope).toBe('x a$&b')
  })
})
