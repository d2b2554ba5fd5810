import { describe, expect, it, vi } from 'vitest'
import { SignInFailed } from '../../../../console/client/api/client.ts'
import { createSignIn, ownAddress, type Provider } from '../../../../console/client/auth/sign-in.ts'
import { inBrowser } from '../../browser.ts'

inBrowser()

const CONFIG = {
  issuer_url: 'https://id.example.org',
  client_id: 'console',
  audience: '',
  scope: 'openid',
  artifact_metadata_header_prefix: 'x-',
}
const signInOf = (provider: Partial<Provider>) =>
  createSignIn(CONFIG, async () => ({
    begin: async () => true,
    token: async () => 'token',
    renew: async () => null,
    start: async () => {},
    end: async () => {},
    complete: async () => '',
    ...provider,
  }))

describe('a sign-in', () => {
  it('is not asked for without an issuer', async () => {
    const load = vi.fn()
    const signIn = await createSignIn({ ...CONFIG, issuer_url: '' }, load)
    expect([signIn.state.get(), await signIn.tokens.token(), await signIn.tokens.refused()]).toEqual([
      'open',
      null,
      false,
    ])
    expect(load).not.toHaveBeenCalled()
  })

  it('ends when the platform refuses a token that cannot be renewed, and the provider is not asked each time', async () => {
    vi.useFakeTimers()
    const renew = vi.fn(async () => null as string | null)
    const signIn = await signInOf({ renew })
    expect(await signIn.tokens.refused()).toBe(false)
    expect(signIn.state.get()).toBe('ended')
    await signIn.tokens.refused()
    expect(renew).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(10_000)
    renew.mockResolvedValue('new')
    expect(await signIn.tokens.refused()).toBe(true)
    expect(signIn.state.get()).toBe('in')
  })

  it('starts where one is, and from a failed one where one was before', async () => {
    const start = vi.fn(async (_returnTo: string) => {})
    const signIn = await signInOf({ start, begin: async () => false })
    expect(signIn.state.get()).toBe('out')
    await signIn.start()
    vi.stubGlobal('location', new URL('https://platform.example.com/console/signed-in?error=access_denied'))
    await signIn.start()
    expect(start.mock.calls).toEqual([['/console/sessions?page=2#top'], ['/console/sessions?page=2#top']])
  })

  it('tells why it cannot begin', async () => {
    const signIn = await signInOf({ start: () => Promise.reject(new SignInFailed('Nobody there.')) })
    await signIn.start()
    expect(signIn.problem.get()).toBe('Nobody there.')
  })

  it('that ends on purpose forgets what was typed', async () => {
    sessionStorage.setItem('platform.draft.start', '"secret"')
    sessionStorage.setItem('oidc.user', 'of the library')
    const signIn = await signInOf({})
    await signIn.end()
    expect(signIn.state.get()).toBe('out')
    expect(Object.keys(sessionStorage)).toEqual(['oidc.user'])
  })
})

it.each([
  ['/console/sessions?a=1#b', '/console/sessions?a=1#b'],
  ['/console/', '/console/'],
  ['', '/console/'],
  ['/console/signed-in?code=1', '/console/'],
  ['/api/v1/users/me', '/console/'],
  ['//evil.example.com/console/', '/console/'],
  ['/\\evil.example.com/console/', '/console/'],
  ['https://evil.example.com/console/x', '/console/'],
  ['javascript:alert(1)', '/console/'],
  ['/console/../../x', '/console/'],
])('leads back from %j to %j', (given, address) => expect(ownAddress(given)).toBe(address))
