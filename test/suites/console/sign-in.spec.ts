import type { Page } from '@playwright/test'
import { decodeJwt } from 'jose'
import { DIST } from '../../../console/build/build.ts'
import { readConsoleFiles } from '../../../src/runtime/console-files.ts'
import { expect, expectAccessible, test } from './fixtures.ts'
import { startForeignIssuer } from './sign-in/foreign-provider.ts'
import { AUDIENCE, CLIENT_ID, type Issuer } from './sign-in/issuer.ts'
import { type Platform, startPlatform } from './sign-in/platform.ts'
import { startIssuer } from './sign-in/provider.ts'

/** An independent provider, which `npm run world -- --only oidc` builds; without it, the one from npm. */
const FOREIGN = process.env.SIGN_IN_ISSUER ?? ''

let platform: Platform
let issuer: Issuer
test.beforeAll(async () => {
  const origin = () => platform.url
  issuer = FOREIGN === '' ? await startIssuer(origin) : await startForeignIssuer(FOREIGN, origin)
  platform = await startPlatform(`
oidc:
  issuer_url: "${issuer.url}"
  client_id: ${CLIENT_ID}
  audience: ${AUDIENCE}
  scope: openid profile email use
  clock_skew_seconds: 0
`)
})
test.afterAll(async () => {
  await platform?.close()
  await issuer?.close()
})
test.beforeEach(() => {
  Object.assign(issuer, { person: { name: 'ada', agrees: true }, lifetime: 300, refresh: false, down: false })
  issuer.asked.length = 0
})

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main' })
const asked = (what: string) => issuer.asked.filter((entry) => entry === what).length

const signOut = (page: Page) => page.getByRole('banner').getByRole('button', { name: 'Sign out' })

/** Opens a page, or stays where one is, and signs in with the button of that name. */
async function signIn(page: Page, path?: string, name = 'Sign in') {
  if (path !== undefined) await page.goto(`${platform.url}/console/${path}`)
  await button(page, name).click()
  await expect(signOut(page)).toBeVisible()
}

test('shows the gate, signs in by code and PKCE, and comes back to where one was', async ({ page }) => {
  const starts: URL[] = []
  page.on('request', (request) => {
    if (request.url().startsWith(`${issuer.url}/auth?`)) starts.push(new URL(request.url()))
  })
  await page.goto(`${platform.url}/console/sessions?search=a%20b&page=2`)
  await expect(page.getByRole('heading', { name: 'Platform' })).toBeVisible()
  await expect(navigation(page)).toBeHidden()
  await expectAccessible(page)
  await signIn(page)
  const address = new URL(page.url())
  expect(address.pathname).toBe('/console/sessions')
  expect(address.searchParams.get('search')).toBe('a b')
  await expect(page.getByText('ada', { exact: true })).toBeVisible()
  expect(Object.fromEntries(starts[0]?.searchParams ?? [])).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    audience: AUDIENCE,
  })
  const kept = await page.evaluate(() => [JSON.stringify({ ...localStorage }), document.cookie].join())
  expect(kept).not.toContain('access_token')
  await page.reload()
  await expect(signOut(page)).toBeVisible()
  expect(starts).toHaveLength(1)
})

test('renews a token by the refresh token', async ({ page }) => {
  Object.assign(issuer, { refresh: true, lifetime: 30 })
  await signIn(page, '')
  await expect.poll(() => asked('POST /token')).toBe(2)
  expect(asked('GET /auth')).toBe(1)
  await page.getByRole('link', { name: 'Sessions' }).click()
  await page.getByRole('link', { name: 'Help' }).click()
  // A token that is valid for half a minute must not be renewed at every request.
  expect(asked('POST /token')).toBe(2)
})

test('renews a token without a refresh token in a hidden frame', async ({ page }) => {
  issuer.lifetime = 30
  const frames: string[] = []
  page.on('framenavigated', (frame) => frame.parentFrame() && frames.push(new URL(frame.url()).pathname))
  await signIn(page, '')
  await expect.poll(() => asked('POST /token')).toBe(2)
  expect(asked('GET /auth')).toBe(2)
  expect(frames).toContain('/console/silent.html')
  await expect(page.locator('iframe')).toHaveCount(0)
  await expect(page.getByText('Your sign-in has expired')).toBeHidden()
})

test('tells in the middle of the work that the sign-in ended, loses nothing, and goes on after another one', async ({
  page,
}) => {
  issuer.lifetime = 4
  await signIn(page, 'sessions?search=kept')
  await page.evaluate(() => sessionStorage.setItem('platform.draft.test', '"a sentence"'))
  issuer.forget()
  issuer.person.agrees = false
  const banner = page.getByText('Your sign-in has expired. Your input is kept.')
  const openUnknownSession = async () => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /session id/ }).fill(crypto.randomUUID())
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/sessions\/[0-9a-f-]+$/)
  }
  await expect(async () => {
    await openUnknownSession()
    await page.goBack()
    await expect(banner).toBeVisible({ timeout: 1_000 })
  }).toPass({ timeout: 30_000 })
  await expect(page).toHaveURL(/search=kept/)
  await expectAccessible(page)
  Object.assign(issuer, { lifetime: 300, person: { name: 'ada', agrees: true } })
  await signIn(page, undefined, 'Sign in again')
  await expect(banner).toBeHidden()
  expect(page.url()).toContain('/console/sessions?search=kept')
  expect(await page.evaluate(() => sessionStorage.getItem('platform.draft.test'))).toBe('"a sentence"')
})

test('signs out at the provider, too, and leaves nothing in the tab', async ({ page }) => {
  await signIn(page, 'settings')
  await page.evaluate(() => sessionStorage.setItem('platform.draft.test', '"a secret"'))
  await signOut(page).click()
  await page.getByRole('button', { name: 'Yes' }).click()
  await expect(button(page, 'Sign in')).toBeVisible()
  expect(new URL(page.url()).pathname).toBe('/console/')
  const kept = await page.evaluate(() => JSON.stringify({ ...sessionStorage }))
  expect(kept).not.toContain('a secret')
  expect(kept).not.toContain('access_token')
  await page.goto(`${platform.url}/console/settings`)
  await expect(button(page, 'Sign in')).toBeVisible()
})

test('tells that the provider refused, in its words as text, and tries again from there', async ({ page }) => {
  issuer.person.agrees = false
  await page.goto(`${platform.url}/console/help?topic=plans`)
  await button(page, 'Sign in').click()
  await expect(page.getByRole('alert')).toHaveText(
    'The identity provider refused: access was denied. It says: “Not today, <b>sorry</b>.”',
  )
  await expectAccessible(page)
  issuer.person.agrees = true
  await signIn(page, undefined, 'Sign in again')
  expect(page.url()).toContain('/console/help?topic=plans')
})

test('takes no answer that belongs to no sign-in of this tab', async ({ page }) => {
  await page.goto(`${platform.url}/console/signed-in?code=stolen&state=made-up`)
  await expect(page.getByRole('alert')).toContainText('belongs to no sign-in of this tab')
  expect(asked('POST /token')).toBe(0)
  await signIn(page, undefined, 'Sign in again')
  expect(new URL(page.url()).pathname).toBe('/console/')
})

test('tells that the provider is away, and signs in once it is back', async ({ page, faults }) => {
  issuer.down = true
  await page.goto(`${platform.url}/console/sessions`)
  await button(page, 'Sign in').click()
  await expect(page.getByRole('alert')).toHaveText(`The identity provider (${issuer.url}) does not answer.`)
  // The browser's own error for an answer that it may not read.
  for (const fault of faults.splice(0)) expect(fault).toContain('CORS policy')
  issuer.down = false
  await signIn(page)
})

for (const hours of [-5, 5])
  test(`a clock of the browser that is ${hours} hours wrong locks nobody out`, async ({ page }) => {
    await page.clock.setSystemTime(Date.now() + hours * 3_600_000)
    await signIn(page, 'sessions')
    await page.reload()
    await expect(signOut(page)).toBeVisible()
    // The clock is corrected while the page is open, so the token looks expired, or valid for hours.
    await page.clock.setSystemTime(Date.now() + 2 * hours * 3_600_000)
    await page.getByRole('link', { name: 'Help' }).click()
    await page.reload()
    await expect(signOut(page)).toBeVisible()
    await expect(page.getByText('Your sign-in has expired')).toBeHidden()
  })

test('every role sees what it may', async ({ page }) => {
  await signIn(page, '')
  for (const operation of ['developer', 'devops'])
    for (const panel of [null, 'viewer', 'editor', 'admin']) {
      await platform.sql`UPDATE users SET operation_role = ${operation}, panel_role = ${panel} WHERE subject = 'ada'`
      await page.reload()
      await expect(signOut(page)).toBeVisible()
      const entries = ['New request', 'Sessions', 'Settings', 'Help', ...(panel ? ['Locked', 'Administration'] : [])]
      await expect(navigation(page).getByRole('link')).toHaveText(entries)
    }
})

test('the policy of the page lets workers of the build run, and no text become a script', async ({ page, faults }) => {
  const paths = [...((await readConsoleFiles(DIST))?.keys() ?? [])]
  const worker = paths.find((path) => path.startsWith('assets/layout-worker-'))
  await page.goto(`${platform.url}/console/`)
  await expect(button(page, 'Sign in')).toBeVisible()
  const started = await page.evaluate(
    (url) =>
      new Promise<string>((resolve) => {
        const own = new Worker(url, { type: 'module' })
        own.onerror = () => resolve('failed')
        setTimeout(() => resolve('runs'), 500)
      }),
    `/console/${worker}`,
  )
  expect(started).toBe('runs')
  expect(faults).toEqual([])
  const refused = await page.evaluate(async () => {
    const trials: Record<string, () => unknown> = {
      'a worker of another address': () => new Worker('/api/v1/auth/config'),
      'a worker of a text': () => new Worker('data:text/javascript,1'),
      'HTML of a text': () => Object.assign(document.createElement('p'), { innerHTML: '<img src=x onerror=alert(1)>' }),
      'a script of a text': () => Object.assign(document.createElement('script'), { textContent: 'alert(1)' }),
    }
    return Object.keys(trials).filter((name) => {
      try {
        trials[name]?.()
        return false
      } catch {
        return true
      }
    })
  })
  expect(refused).toEqual(['a worker of another address', 'a worker of a text', 'HTML of a text', 'a script of a text'])
  const elsewhere = await page.evaluate(() => fetch('https://example.org/').catch((error: Error) => error.name))
  expect(elsewhere).toBe('TypeError')
  expect(faults.splice(0).length).toBeGreaterThan(0)
})

test.describe('with identity tokens', () => {
  test.skip(FOREIGN !== '', 'the other provider has another client')
  let own: Platform
  let provider: Issuer
  test.beforeAll(async () => {
    provider = await startIssuer(() => own.url)
    own = await startPlatform(`
oidc:
  issuer_url: "${provider.url}"
  client_id: ${CLIENT_ID}
  audience: ${CLIENT_ID}
  console_token: identity
`)
  })
  test.afterAll(async () => {
    await own?.close()
    await provider?.close()
  })

  test('presents and renews them, because the platform refuses access tokens', async ({ page }) => {
    const presented = new Set<string>()
    page.on('request', (request) => {
      const token = request.headers().authorization?.split(' ')[1]
      if (token) presented.add(token)
    })
    await page.goto(`${own.url}/console/sessions`)
    await button(page, 'Sign in').click()
    await expect(signOut(page)).toBeVisible()
    await expect(page.getByRole('heading', { name: 'Sessions' })).toBeVisible()
    await page.clock.setSystemTime(Date.now() + 580_000)
    await page.reload()
    await expect(signOut(page)).toBeVisible()
    await expect(page.getByRole('heading', { name: 'Sessions' })).toBeVisible()
    expect(presented.size).toBe(2)
    for (const token of presented) expect(decodeJwt(token)).toMatchObject({ aud: CLIENT_ID, sub: 'ada' })
    const [user] = await own.sql`SELECT count(*)::int AS n FROM users`
    expect(user).toEqual({ n: 1 })
  })
})
