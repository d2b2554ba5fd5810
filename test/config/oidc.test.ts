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

  test.each([
    ['audience: [a, ""]', 'oidc.audience must be a string or a list of non-empty strings'],
    ['audience: 7', 'oidc.audience must be a string or a list of non-empty strings'],
    ['token_issuers: https://a', 'oidc.token_issuers must be a list of non-empty strings'],
    [
      'token_issuers: ["https://login.microsoftonline.com/{tenantid}/v2.0"]',
      'oidc.token_issuers must name each issuer; there are no placeholders in them.',
    ],
    ['subject_claim: ""', 'oidc.subject_claim must not be empty'],
    ['required_claims: groups', 'oidc.required_claims must be a list'],
    ['required_claims: [{values: [a]}]', 'oidc.required_claims.0.claim is required'],
    ['required_claims: [{claim: []}]', 'oidc.required_claims.0.claim must be a name or a list of names'],
    ['required_claims: [{claim: a, values: b}]', 'oidc.required_claims.0.values must be a list'],
    [
      'required_claims: [{claim: a, values: [{}]}]',
      'oidc.required_claims.0.values.0 must be a string, a number or a boolean',
    ],
  ])('%s is refused', async (field, text) => {
    expect(await problemsOf(`oidc:\n  issuer_url: https://idp.example.com\n  client_id: web\n  ${field}`)).toEqual([
      text,
    ])
  })

  test('claims that are required are read by name or by path', async () => {
    const { oidc } = await load(`oidc:
  required_claims:
    - { claim: [realm_access, roles], values: [platform] }
    - { claim: "https://example.com/id", values: [7, true] }
    - { claim: hd }`)
    expect(oidc.required_claims).toEqual([
      { claim: ['realm_access', 'roles'], values: ['platform'] },
      { claim: 'https://example.com/id', values: [7, true] },
      { claim: 'hd', values: [] },
    ])
  })

  test('a client id with replacement patterns is inserted as it is', async () => {
    expect((await load('oidc: {client_id: "a$&b", scope: "x {client_id}"}')).oidc.scope).toBe('x a$&b')
  })
})
