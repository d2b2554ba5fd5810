import { describe, expect, test } from 'vitest'
import { runCheckConfig } from '../../config/check.ts'
import { ConfigError, loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import { MINIMAL } from './support.ts'

const DENIED = Object.assign(new Error('permission denied, open /run/secrets/denied'), { code: 'EACCES' })

/** Loads with these files and variables; all other paths have no file. */
const loadWith = (files: Record<string, string | Error>, env: Record<string, string | undefined>): Promise<Config> =>
  loadConfig({ ...MINIMAL, ...env }, async (path) => {
    const file = files[path] ?? null
    if (file instanceof Error) throw file
    return file
  })

async function problemsWith(files: Record<string, string | Error>, env: Record<string, string | undefined>) {
  const error = await loadWith(files, env).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (error instanceof ConfigError) return error.problems
  throw new Error('the configuration was accepted', { cause: error })
}

describe('variables that files hold', () => {
  test('every secret may come from a file, without its last line break', async () => {
    const config = await loadWith(
      {
        '/s/url': 'postgresql://platform:from-a-file@db:5432/platform\n',
        '/s/iac': 'iac-from-a-file\r\n',
        '/s/model': 'model-from-a-file',
        '/s/access': 'access-from-a-file\n',
        '/s/store': 'store-from-a-file\n\n',
        '/s/user': 'user\n',
        '/s/git': 'git-from-a-file\n',
      },
      {
        ...{ PLATFORM_SQL_DATABASE_URL: undefined, PLATFORM_SQL_DATABASE_URL_FILE: '/s/url' },
        ...{ PLATFORM_IAC_TOKEN: '', PLATFORM_IAC_TOKEN_FILE: ' /s/iac ' },
        ...{ ANTHROPIC_API_KEY: undefined, ANTHROPIC_API_KEY_FILE: '/s/model' },
        ...{ BUNDLED_ACCESS_KEY_FILE: '/s/access', BUNDLED_SECRET_KEY_FILE: '/s/store' },
        ...{ GIT_USER_FILE: '/s/user', GIT_TOKEN_FILE: '/s/git' },
      },
    )
    expect(config.database.url).toBe('postgresql://platform:from-a-file@db:5432/platform')
    expect(config.services.iac.token).toBe('iac-from-a-file')
    expect(JSON.stringify(config.llm)).toContain('model-from-a-file')
    expect(JSON.stringify(config.storage)).toContain('access-from-a-file')
    expect(JSON.stringify(config.storage)).toContain('"store-from-a-file"')
    expect(config.git).toMatchObject({ user: 'user', token: 'git-from-a-file' })
  })

  test('variables that are asked for only once another one is known come from files too', async () => {
    const config = await loadWith(
      {
        '/etc/platform/config.yaml': 'llm: {model: azure/gpt, small_model: azure/gpt}',
        ...{ '/s/base': 'https://models.example.com', '/s/version': '2026-01-01', '/s/key': 'azure-key\n' },
      },
      { AZURE_API_BASE_FILE: '/s/base', AZURE_API_VERSION_FILE: '/s/version', AZURE_API_KEY_FILE: '/s/key' },
    )
    expect(JSON.stringify(config.llm)).toContain('"azure-key"')
  })

  test('all that is wrong is told together, without paths and contents', async () => {
    const problems = await problemsWith(
      { '/s/denied': DENIED, '/s/empty': ' \n', '/s/token': 'hidden-token' },
      {
        ...{ PLATFORM_SQL_DATABASE_URL: undefined, PLATFORM_SQL_DATABASE_URL_FILE: '/s/missing' },
        ...{ GIT_USER_FILE: '/s/denied', GIT_TOKEN_FILE: '/s/empty' },
        PLATFORM_IAC_TOKEN_FILE: '/s/token',
      },
    )
    expect(problems).toEqual(
      expect.arrayContaining([
        'PLATFORM_SQL_DATABASE_URL_FILE names a file that does not exist',
        'GIT_USER_FILE names a file that cannot be read (EACCES)',
        'GIT_TOKEN_FILE names a file that is empty',
        'PLATFORM_IAC_TOKEN and PLATFORM_IAC_TOKEN_FILE are both set',
      ]),
    )
    expect(problems.join('\n')).not.toMatch(/\/s\/|hidden-token/)
  })

  test('files of variables that the platform does not read are left alone', async () => {
    const paths: string[] = []
    await loadConfig(
      { ...MINIMAL, SSL_CERT_FILE: '/etc/ssl/cert.pem', LOG_FILE: '/var/log/all', GIT_TOKEN_FILE: ' ' },
      async (path) => {
        paths.push(path)
        return null
      },
    )
    expect(paths).toEqual(['/etc/platform/config.yaml'])
  })

  test('a file of a variable is not taken for the configuration file', async () => {
    let said = ''
    const code = await runCheckConfig(
      { ...MINIMAL, GIT_TOKEN_FILE: '/s/token' },
      async (path) => (path === '/s/token' ? 'hidden-token' : null),
      (text) => {
        said += text
      },
      async () => [],
    )
    expect(code).toBe(0)
    expect(said).toMatch(/^# no configuration file: built-in defaults\n/)
    expect(said).not.toContain('hidden-token')
  })
})
