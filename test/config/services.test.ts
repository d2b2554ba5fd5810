import { describe, expect, test } from 'vitest'
import { configWarnings } from '../../config/check.ts'
import { load, problemsOf } from './support.ts'

const TAIL =
  '. Set the listed env vars; the optional sidecars can also be flipped to enabled: false (services.iac cannot — ' +
  'it is mandatory).'
const HEAD = 'Services the core calls have no bearer token in the environment: '

describe('services', () => {
  test('tokens come from the named variables', async () => {
    const config = await load('services: {iac: {token_env: MY_VAR}, authz: {enabled: true, token_env: AUTHZ}}', {
      MY_VAR: 'abc\n',
      AUTHZ: 'def',
      PLATFORM_IAC_TOKEN: undefined,
    })
    expect(config.services.iac.token).toBe('abc')
    expect(config.services.authz.token).toBe('def')
  })

  test.each([
    ['""', 'empty'],
    ['"  "', 'blank'],
    ['/', 'a slash'],
  ])('an iac endpoint of %s (%s) aborts', async (value) => {
    expect(await problemsOf(`services: {iac: {endpoint: ${value}}}`)).toEqual([
      'services.iac.endpoint is empty; the IaC service is mandatory. Point it at an implementation of the iac ' +
        'contract.',
    ])
  })

  test('enabled is ignored for iac', async () => {
    expect((await load('services: {iac: {enabled: false}}')).services.iac).not.toHaveProperty('enabled')
    expect(await problemsOf('services: {iac: {enabled: false}}', { PLATFORM_IAC_TOKEN: '' })).toHaveLength(1)
  })

  test.each([undefined, '', '   '])('the iac token %j is missing', async (token) => {
    expect(await problemsOf(null, { PLATFORM_IAC_TOKEN: token })).toEqual([
      `${HEAD}services.iac → $PLATFORM_IAC_TOKEN${TAIL}`,
    ])
  })

  test('all missing tokens are listed in one text, iac first', async () => {
    const file = `services:
  authz: {enabled: true, endpoint: "http://a", token_env: PLATFORM_AUTHZ_TOKEN}
  mapping: {enabled: true, token_env: PLATFORM_MAPPING_TOKEN}
  notifications: {enabled: yes, token_env: PLATFORM_NOTIFICATIONS_TOKEN}`
    expect(await problemsOf(file, { PLATFORM_IAC_TOKEN: '', PLATFORM_MAPPING_TOKEN: '' })).toEqual([
      `${HEAD}services.iac → $PLATFORM_IAC_TOKEN; services.notifications → $PLATFORM_NOTIFICATIONS_TOKEN; ` +
        `services.mapping → $PLATFORM_MAPPING_TOKEN; services.authz → $PLATFORM_AUTHZ_TOKEN${TAIL}`,
    ])
  })

  test('an enabled sidecar that names no variable is missing its token', async () => {
    expect(await problemsOf('services: {authz: {enabled: true, endpoint: "http://a"}}')).toEqual([
      `${HEAD}services.authz → token_env is empty${TAIL}`,
    ])
  })

  test('a disabled sidecar needs no token, an enabled one no endpoint', async () => {
    await expect(load('services: {authz: {enabled: false, token_env: NOPE}}')).resolves.toBeDefined()
    const config = await load('services: {authz: {enabled: true, token_env: AUTHZ}}', { AUTHZ: 'x' })
    expect(config.services.authz).toMatchObject({ enabled: true, endpoint: '' })
  })
})

describe('services.authz.enforce', () => {
  const AUTHZ = 'endpoint: "http://a", token_env: AUTHZ'
  const warned = async (settings: string) =>
    configWarnings(await load(`services: {authz: {${settings}}}`, { AUTHZ: 'x' })).filter((text) =>
      text.includes('not enforced'),
    )

  test('needs an enabled sidecar', async () => {
    expect(await problemsOf(`services: {authz: {enforce: true, ${AUTHZ}}}`, { AUTHZ: 'x' })).toEqual([
      'services.authz.enforce needs services.authz.enabled: true, because a disabled sidecar grants every check.',
    ])
    const config = await load(`services: {authz: {enabled: true, enforce: true, ${AUTHZ}}}`, { AUTHZ: 'x' })
    expect(config.services.authz.enforce).toBe(true)
    expect((await load(null)).services.authz.enforce).toBe(false)
  })

  test('is told in one line when the sidecar is enabled and not enforced', async () => {
    expect(await warned(`enabled: true, ${AUTHZ}`)).toHaveLength(1)
    expect(await warned(`enabled: true, enforce: true, ${AUTHZ}`)).toEqual([])
    expect(await warned(`enabled: false, ${AUTHZ}`)).toEqual([])
  })
})
