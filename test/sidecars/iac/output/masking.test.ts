import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hideCredentials } from '../../../../sidecars/iac/output/masking.ts'
import { credentialsOf } from '../../../../sidecars/iac/output/secrets.ts'
import { SCOPE, startTestService, temporaryFolder } from '../service.ts'

it('knows credentials by the names of their variables', () => {
  const env = {
    ARM_CLIENT_SECRET: 'client-secret-1',
    AWS_SESSION_TOKEN: 'session-token-1',
    PLATFORM_IAC_TOKEN: 'own-token-1',
    GOOGLE_CREDENTIALS: '{"private_key": "a\nb"}',
    AWS_WEB_IDENTITY_TOKEN_FILE: '/var/run/token',
    GOOGLE_APPLICATION_CREDENTIALS: '/etc/key.json',
    SHORT_TOKEN: 'abc',
    AWS_SECRET_ACCESS_KEY: '/begins+like/a+path',
    TOKEN_DIR: '/var/run/tokens',
    KUBE_CLIENT_KEY_DATA: 'client-key-1',
    KUBE_CLIENT_CERT_DATA: 'certificate-1',
    AWS_REGION: 'eu-central-1',
    PATH: '/usr/bin:/bin',
  }
  expect(credentialsOf(env).toSorted()).toEqual(
    [
      'client-secret-1',
      '/begins+like/a+path',
      'session-token-1',
      'own-token-1',
      'client-key-1',
      '{"private_key": "a\nb"}',
    ].toSorted(),
  )
})

const folder = await temporaryFolder()

describe('files', () => {
  it('keep every byte when nothing is to be hidden', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x41, 0xfe])
    await writeFile(join(folder, 'out'), bytes)
    await hideCredentials(join(folder, 'out'), ['secret-1'])
    expect((await readFile(join(folder, 'out'))).equals(bytes)).toBe(true)
  })

  it('show a mark wherever a credential stood', async () => {
    await writeFile(join(folder, 'out'), 'a=secret-1-long b=secret-1 secret-1')
    await hideCredentials(join(folder, 'out'), ['secret-1-long', 'secret-1'])
    expect(await readFile(join(folder, 'out'), 'utf8')).toBe(
      'a=(sensitive value) b=(sensitive value) (sensitive value)',
    )
  })
})

describe('large files', () => {
  const secret = 'a-secret-that-crosses-the-parts'
  const CHUNK = 256 * 1024
  const hidden = async (text: string, secrets: string[]) => {
    await writeFile(join(folder, 'out'), text)
    await hideCredentials(join(folder, 'out'), secrets)
    return readFile(join(folder, 'out'), 'utf8')
  }

  it('hide a secret wherever the parts are cut', async () => {
    for (let before = CHUNK - 220; before <= CHUNK + 40; before += 13) {
      const text = await hidden(`${'x'.repeat(before)}${secret}|${secret}end`, [secret])
      expect(text).toBe(`${'x'.repeat(before)}(sensitive value)|(sensitive value)end`)
    }
  })

  it('hide secrets that overlap, and runs of one that repeats itself', async () => {
    expect(await hidden('-abcdefgh12345678-', ['abcdefgh1234', 'gh12345678'])).toBe('-(sensitive value)-')
    expect(await hidden(`-${'ab'.repeat(3 * CHUNK)}-`, ['abababab'])).toBe('-(sensitive value)-')
  })

  it('find the same as a plain search, whatever the lengths of the secrets are', async () => {
    const secrets = ['k3y-0001', 'k3y-0001-longer', 'another-secret-of-some-length', 'zzzzzzzzy']
    const text = Array.from({ length: 400 }, (_, index) => `${'z'.repeat(index % 11)}${secrets[index % 4]}`).join(
      'k3y-',
    )
    const expected = secrets
      .toSorted((a, b) => b.length - a.length)
      .reduce((all, one) => all.replaceAll(one, '#'), text)
    expect((await hidden(text, secrets)).replaceAll('(sensitive value)', '#')).toBe(expected)
  })
})

it('knows the passwords of addresses and the secrets inside of documents', () => {
  const secrets = credentialsOf({
    HTTPS_PROXY: 'http://user:p%40ssw0rd@proxy:8080',
    DATABASE_URL: 'postgres://app:hunter2-long@db/x?sslmode=require',
    SHORT: 'redis://:abc@cache',
    REPOSITORY: 'https://ghp_0123456789abcdefghij@github.com/a/b',
    DSN: 'host=db user=app password=words-of-a-dsn',
    GOOGLE_CREDENTIALS: '{"type":"service_account","private_key":"key-of-the-account","client_id":"1234567890"}',
  })
  for (const secret of [
    'p%40ssw0rd',
    'p@ssw0rd',
    'hunter2-long',
    'redis://:abc@',
    'ghp_0123456789abcdefghij',
    'words-of-a-dsn',
    'key-of-the-account',
  ])
    expect(secrets).toContain(secret)
  expect(secrets).not.toContain('1234567890')
})

const service = await startTestService({ ARM_CLIENT_SECRET: 'cloud-secret-of-the-service', IAC_SANDBOX: 'none' })

describe('jobs with a real engine', () => {
  it.skipIf(process.platform !== 'linux')('do not show credentials that code reads from the environment', async () => {
    const code =
      'output "x" {\n  value = replace(file(join("/", ["", "proc", "self", "environ"])), "/[^ -~]/", "|")\n}\n'
    const workspace_path = await service.workspace({ 'main.tf': code })
    await service.run('/v1/init', { workspace_path, ...SCOPE })
    const { result } = await service.run('/v1/plan', { workspace_path, ...SCOPE, plan_file: 'session.plan' })
    expect(result.exit_code).toBe(0)
    expect(result.stdout).toContain('ARM_CLIENT_SECRET=(sensitive value)')
    const shown = await service.run('/v1/show', { workspace_path, plan_file: 'session.plan' })
    expect(JSON.parse(shown.result.stdout).output_changes.x.after).toContain('ARM_CLIENT_SECRET=(sensitive value)')
    expect(JSON.stringify([result, shown, service.log])).not.toContain('cloud-secret-of-the-service')
  })
})
