import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { SignJWT, UnsecuredJWT } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import type { OidcConfig } from '../../config/types.ts'
import { listen } from '../../dev/server.ts'
import { checkToken, writeTokenReport } from '../../src/access/check-token.ts'
import { createTokenVerifier } from '../../src/access/verify-token.ts'
import { configOf, ENVIRONMENT } from '../helpers/core.ts'
import { temporaryFolder } from '../helpers/folder.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createIssuer, type Issuer } from '../helpers/issuer.ts'
import { startOnce } from '../helpers/start-once.ts'
import { CLIENT_ID, startIdentityProvider } from './provider.ts'

const direct: typeof fetch = (input, init) => globalThis.fetch(input, init)
/** Returns an address at which nothing listens any more. */
async function freeAddress(): Promise<string> {
  const { url, close } = await listen(createServer())
  await close()
  return url
}

/** The parts of a token that nobody may see: all of it but the header, which names algorithm and key. */
const secretsOf = (token: string) => [token, ...token.split('.')]

describe('a report', () => {
  const server = interceptRequests()
  let issuer: Issuer
  beforeEach(async () => {
    issuer = await createIssuer()
    server.use(...issuer.handlers)
  })
  const report = async (token: string, changes: Partial<OidcConfig> = {}, root = '') => {
    const oidc = { issuer_url: issuer.url, client_id: 'core', ...changes }
    const config = await configOf(stringify({ oidc, admin: { default_root_email: root } }))
    const now = new Date()
    const made = await checkToken(token, { config, fetch: direct, now: () => now })
    const verify = createTokenVerifier(config.oidc, { fetch: direct, now: () => now })
    const verdict = await verify(token.trim().replace(/^Bearer /, '')).then(
      () => null,
      (error: Error) => error.message.replace('Token validation failed: ', ''),
    )
    expect(made.reason).toBe(verdict)
    const text = writeTokenReport(made, now)
    for (const secret of secretsOf(token.trim())) if (secret.length > 10) expect(text).not.toContain(secret)
    return text
  }
  const lineOf = (text: string, name: string) => text.split('\n').filter((line) => line.slice(8).startsWith(`${name} `))

  it('says of a good token what was read, from where, and who it is', async () => {
    const token = await issuer.token('ada', { email: 'ada@example.org', email_verified: true, name: 'Ada' })
    const text = await report(`Bearer ${token}\n`, {}, 'ADA@example.org')
    expect(text).toContain('ok      signature    by a key of https://issuer.example.org/keys')
    expect(lineOf(text, 'aud')).toEqual(['ok      aud          "core"'])
    expect(text).toContain('accepted is core or api://core (oidc.client_id)')
    expect(lineOf(text, 'exp')[0]).toMatch(/\(\d{4}-\d\d-\d\dT[\d:.]+Z, in \d+ s\)$/)
    expect(lineOf(text, 'e-mail')).toEqual(['        e-mail       "ada@example.org"'])
    expect(text).toContain('devops and panel admin, by admin.default_root_email')
    expect(text.trimEnd()).toMatch(/The token is accepted\.$/)
  })

  it('goes on after the first refusal', async () => {
    const unread: Record<string, unknown> = { nbf: 'x' }
    const token = await issuer.token('ada', { aud: 'account', iss: 'https://other.example.org', exp: 1_000, ...unread })
    const text = await report(token, { required_claims: [{ claim: ['realm', 'roles'], values: ['user'] }] })
    for (const [name, value, reason] of [
      ['iss', '"https://other.example.org"', 'issuer is not accepted'],
      ['aud', '"account"', 'audience is not accepted'],
      ['nbf', '"x"', 'claim nbf is not valid'],
      ['realm.roles', 'claim realm.roles is missing', 'accepted is user (oidc.required_claims)'],
    ])
      expect(text).toContain(`refused ${name?.padEnd(12)} ${value}\n${''.padEnd(21)}${reason}`)
    expect(text).toMatch(/refused exp +1000 \(1970-01-01T00:16:40\.000Z, \d+ s ago\)\n +token has expired/)
    expect(text.trimEnd()).toMatch(/The token is refused: issuer is not accepted$/)
  })

  it.each([
    ['an opaque token', 'ya29.a0AfH6SMBx', 'a JWT has three parts'],
    ['an opaque token in one word', '9f8e7d6c5b4a', 'this is no JWT: only its issuer can read it'],
    [
      'an encrypted token',
      'aaaaaaaaaaaa.bbbbbbbbbbbb.cccccccccccc.dddddddddddd.eeeeeeeeeeee',
      'this is an encrypted token',
    ],
    ['the answer of a token endpoint', '{"access_token": "aaaaaaaaaaaaaaa"}', 'this is a JSON document'],
  ])('says what %s is', async (_, token, hint) => {
    const text = await report(token)
    expect(text).toContain('refused form         token is malformed')
    expect(text).toContain(hint)
  })

  it('reads the claims of a token whose signature it need not or cannot check', async () => {
    const claims = { iss: issuer.url, sub: 'ada', aud: 'other' }
    const none = new UnsecuredJWT(claims).encode()
    const secret = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32))
    for (const token of [none, secret]) {
      const text = await report(token)
      expect(text).toMatch(/refused alg +"(none|HS256)"\n +algorithm is not allowed\n/)
      expect(text).toContain('refused aud          "other"')
      expect(text).not.toContain('signature')
    }
    expect(new Set(issuer.asked)).toEqual(new Set())
    const [header, payload] = (await issuer.token('ada')).split('.')
    const forged = await report(`${header}.${payload}.AAAAAAAAAAAAAAAA`)
    expect(forged).toMatch(/refused signature +signature does not match/)
    expect(forged).toContain('ok      aud          "core"')
  })

  it('says that the issuer does not answer, and still reads the claims', async () => {
    issuer.down = true
    const text = await report(await issuer.token('ada', { aud: 'other' }))
    expect(text).toContain('refused discovery    "https://issuer.example.org/.well-known/openid-configuration"')
    expect(text).toContain('/.well-known/openid-configuration was answered with 503')
    expect(text).toContain('refused aud          "other"')
  })

  it.each([
    [
      { email: 'a@b.example', email_verified: false },
      {},
      'none counts: email_verified (oidc.email_verified_claim) is false',
    ],
    [{ email: 'a@b.example' }, { require_verified_email: true }, 'is missing, and oidc.require_verified_email is true'],
    [{}, { email_claim: 'upn' }, 'none: there is no upn (oidc.email_claim). The user is known as user-<number>'],
    [{ preferred_username: 'ada' }, {}, 'from preferred_username'],
    [{ upn: 'a@b.example' }, { email_claim: 'upn' }, 'from upn (oidc.email_claim)'],
  ])('says which e-mail counts: %j, %j', async (claims, changes, words) => {
    expect(await report(await issuer.token('ada', claims), changes)).toContain(words)
  })

  it('says who becomes no administrator, and why', async () => {
    const text = await report(await issuer.token('ada', { email: 'root@b.example' }), {}, 'root@b.example')
    expect(text).toContain(
      'a new user is developer, without a panel role. admin.default_root_email is not met: email_verified',
    )
  })

  it('moves nothing on a terminal', async () => {
    const text = await report(
      await issuer.token('ada', { aud: ['\u001b[2J', '\u009b2J', '\u202eerised', 'x'.repeat(900)] }),
    )
    expect(text).toContain(String.raw`["\u001b[2J","\u009b2J","\u202eerised","xxx`)
    expect(text).toMatch(/… \(\d+ characters\)/)
    for (const character of ['\u001b', '\u009b', '\u202e']) expect(text).not.toContain(character)
  })

  it('of no sign-in says that no token is read', async () => {
    const config = await configOf()
    const made = await checkToken('x', { config, fetch: direct, now: () => new Date() })
    expect(writeTokenReport(made, new Date())).toContain('oidc.issuer_url is empty, so that no token is read')
    expect(made.accepted).toBe(false)
  })
})

describe('npm run core -- --check-token', () => {
  const provider = startOnce(startIdentityProvider)
  const folder = temporaryFolder()
  const run = async (args: string[], stdin = '', issuer_url = provider.url) => {
    const path = `${folder}/config.yaml`
    await writeFile(path, stringify({ oidc: { issuer_url, client_id: CLIENT_ID } }))
    const env = { PATH: process.env.PATH, ...ENVIRONMENT, PLATFORM_CONFIG: path }
    return new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const command = ['routes/main.ts', '--check-token', ...args]
      const child = execFile(process.execPath, command, { env, timeout: 50_000 }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out, err }),
      )
      child.stdin?.end(stdin)
    })
  }

  it('reads a file or standard input, and exits with 0 for a good token and 1 for another', async () => {
    provider.accounts.set('ada', { email: 'ada@example.org', email_verified: true })
    const { id_token, access_token } = await provider.logIn('ada')
    await writeFile(`${folder}/token`, `${id_token}\n`)
    const good = await run([`${folder}/token`])
    expect(good).toMatchObject({ code: 0, err: '' })
    expect(good.out).toContain(`by a key of ${provider.url}/jwks`)
    expect(good.out).toContain('The token is accepted.')
    const [header, payload] = access_token.split('.')
    const forged = await run(['-', '--json'], `${header}.${payload}.AAAA`)
    expect(forged.code).toBe(1)
    expect(JSON.parse(forged.out)).toMatchObject({
      accepted: false,
      reason: 'signature does not match',
      checks: expect.arrayContaining([
        expect.objectContaining({ name: 'aud', value: `api://${CLIENT_ID}`, accepted: true }),
      ]),
    })
    for (const secret of [...secretsOf(id_token), ...secretsOf(access_token)])
      expect(good.out + forged.out).not.toContain(secret)
  })

  it('says why nothing can be checked', async () => {
    const { id_token } = await provider.logIn('ada')
    const away = await run(['-'], id_token, await freeAddress())
    expect(away.code).toBe(1)
    expect(away.out).toContain('the connection failed (ECONNREFUSED)')
    expect(away.out).toContain('The token is refused: the keys of the identity provider could not be read')
    expect(await run([`${folder}/none`])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('there is no file'),
    })
    expect(await run([])).toMatchObject({ code: 1, err: expect.stringContaining('--check-token <file>') })
    expect(await run(['-', '--jsn'])).toMatchObject({ code: 1, err: expect.stringContaining('--check-token <file>') })
  })
})
