import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startGitHost } from '../../../../dev/git-host/start.ts'
import { gitCredentialVariables, parseModuleCredentials } from '../../../../sidecars/iac/limits/module-credentials.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { SCOPE, startTestService, temporaryFolder } from '../service.ts'

describe('the file of credentials', () => {
  it('has one place a line', () => {
    const text = '# modules\n\nhttps://bot:a%40b@git.example.com:8443\r\nhttps://x:y@github.com/acme\n'
    expect(parseModuleCredentials(text)).toEqual([
      { url: 'https://git.example.com:8443/', user: 'bot', token: 'a@b' },
      { url: 'https://github.com/acme/', user: 'x', token: 'y' },
    ])
  })

  it.each([
    'http://a:b@c/',
    'https://a@c',
    'https://c',
    'a:b@c',
    'https://a:b@c?d',
    'https://a:b%0aX@c',
    'https://a:%zz@c',
  ])('names the number of a wrong line: %s', (line) => {
    expect(parseModuleCredentials(`\n${line}\n`)).toBe(2)
  })
})

it('settings of git follow those that the environment has', () => {
  const login = { url: 'https://h/', user: 'a', token: 'b' }
  expect(gitCredentialVariables([], {})).toEqual({})
  expect(gitCredentialVariables([login], { GIT_CONFIG_COUNT: '2' })).toMatchObject({
    GIT_CONFIG_COUNT: '5',
    GIT_CONFIG_KEY_2: 'http.https://h/.extraHeader',
    GIT_CONFIG_VALUE_4: 'ssh://git@h/',
  })
})

const TOKEN = 'token-of-the-module-host'

const site = startOnce(async () => {
  const folder = await temporaryFolder()
  const host = await startGitHost({ data_dir: join(folder, 'git'), user: 'bot', token: TOKEN, samples: false })
  const files = { 'main.tf': 'output "said" {\n  value = "hello"\n}\n' }
  await host.addRepository({ owner: 'acme', name: 'hidden', content: { files }, private: true })
  const named = async (text: string) => {
    const path = join(await temporaryFolder(), 'credentials')
    await writeFile(path, text)
    return { IAC_MODULE_CREDENTIALS: path }
  }
  const start = (env: Record<string, string> = {}) =>
    startTestService({ GIT_SSL_CAINFO: host.ca_file, IAC_EGRESS_ALLOW: host.host, ...env })
  return { host, named, start, close: () => host.close() }
})

/** Initialises a workspace with a module of the host. */
async function init(
  service: Awaited<ReturnType<typeof startTestService>>,
  { source = `git::https://${site.host.host}/acme/hidden.git`, more = {} }: { source?: string; more?: object } = {},
) {
  const workspace_path = await service.workspace({ 'main.tf': `module "hidden" {\n  source = "${source}"\n}\n` })
  const { result } = await service.run('/v1/init', { workspace_path, ...SCOPE, ...more })
  return { result, workspace_path }
}

describe('a private module', () => {
  const ofHost = (token = TOKEN) => ({
    module_credentials: { origin: `https://${site.host.host}`, user: 'bot', token },
  })

  it('is fetched with the token of the request, which is left nowhere', async () => {
    const service = await site.start()
    const { result, workspace_path } = await init(service, { more: ofHost() })
    expect(result, result.stderr).toMatchObject({ exit_code: 0 })
    expect(await readFile(join(workspace_path, '.terraform/modules/hidden/main.tf'), 'utf8')).toContain('hello')
    const left = [join(workspace_path, '.terraform'), join(service.folder, 'data')]
    for (const folder of left)
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
        if (entry.isFile())
          expect(await readFile(join(entry.parentPath, entry.name), 'latin1')).not.toMatch(
            /token-of-the|dG9rZW4t|b2tlbi1v/,
          )
    expect(service.log.join()).not.toContain(TOKEN)
  })

  it('is fetched with what the operator names, also where the code says SSH, and before the token of the request', async () => {
    const service = await site.start(await site.named(`https://bot:${TOKEN}@${site.host.host}/\n`))
    for (const source of [undefined, `git::ssh://git@${new URL(site.host.url).hostname}/acme/hidden.git`]) {
      const { result } = await init(service, { source, more: ofHost('wrong-token-of-the-request') })
      expect(result, result.stderr).toMatchObject({ exit_code: 0 })
    }
  })

  it.each<[string, object]>([
    ['without a token', {}],
    ['with a wrong one', { module_credentials: { token: 'wrong-token-of-the-request' } }],
  ])('is not fetched %s', async (_, more) => {
    const sent = 'module_credentials' in more ? ofHost('wrong-token-of-the-request') : {}
    const { result } = await init(await site.start(), { more: sent })
    expect(result.exit_code).toBe(1)
    expect(result.stderr.replaceAll(/\s+/g, ' ')).toMatch(/Authentication failed|could not read Username/)
    expect(JSON.stringify(result)).not.toContain('wrong-token')
  })

  it('is not fetched with the token of the request where the operator does not want it', async () => {
    const service = await site.start({ IAC_REFUSE_HOST_TOKEN: 'true' })
    expect((await service.request('GET', '/v1/engine')).body.additions).not.toContain('module_credentials')
    expect((await init(service, { more: ofHost() })).result.exit_code).toBe(1)
  })

  it('is not fetched while the file of credentials is wrong, whose text is not shown', async () => {
    const service = await site.start(await site.named('secret text'))
    const workspace_path = await service.workspace({ 'main.tf': '' })
    const job = await service.run('/v1/init', { workspace_path, ...SCOPE })
    expect(job).toMatchObject({ status: 'failed', error: { detail: expect.stringContaining('line 1 of the file') } })
    expect(JSON.stringify(job)).not.toContain('secret text')
  })
})
