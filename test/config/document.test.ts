import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import { readTextFile } from '../../src/runtime/files.ts'
import { temporaryFolder } from '../helpers/folder.ts'
import { load, MINIMAL, problemsOf } from './support.ts'

describe('where the file is', () => {
  test.each([
    ['unset', {}, '/etc/platform/config.yaml'],
    ['empty', { PLATFORM_CONFIG: '' }, '/etc/platform/config.yaml'],
    ['set', { PLATFORM_CONFIG: '/conf/mine.yaml' }, '/conf/mine.yaml'],
  ])('PLATFORM_CONFIG %s', async (_name, env, expected) => {
    const asked: string[] = []
    await loadConfig({ ...MINIMAL, ...env }, async (path) => {
      asked.push(path)
      return null
    })
    expect(asked).toEqual([expected])
  })

  describe('on disk', () => {
    const folder = temporaryFolder()
    beforeAll(async () => {
      await mkdir(join(folder, 'directory'))
      await writeFile(join(folder, 'one.yaml'), 'oidc: {scope: openid one}')
      await writeFile(join(folder, 'two.yaml'), 'oidc: {scope: openid two}')
    })

    test.each([
      ['one.yaml', 'openid one'],
      ['two.yaml', 'openid two'],
      ['missing.yaml', 'openid profile email'],
      ['one.yaml/below', 'openid profile email'],
      ['directory', 'openid profile email'],
    ])('%s', async (name, scope) => {
      const config = await loadConfig({ ...MINIMAL, PLATFORM_CONFIG: join(folder, name) }, readTextFile)
      expect(config.oidc.scope).toBe(scope)
    })
  })
})

describe('what the file holds', () => {
  test.each([
    ['nothing', ''],
    ['a comment', '# nothing yet\n'],
    ['an explicit null', 'null'],
    ['an empty section', 'oidc:\nservices:\n  authz:\n'],
    [
      'unknown sections and keys',
      'fallbacks: [a]\noidc: {client_secret: x}\nservices: {iac: {enabled: false}, other: {enabled: true}}',
    ],
    ['the renamed key', 'orchestration: {max_tool_chain_executions: 1}'],
  ])('%s loads as the defaults', async (_name, file) => {
    expect(await load(file)).toEqual(await load(null))
  })

  test.each([
    ['broken YAML', 'oidc: {scope: [', /^configuration file is not valid YAML: .* at line 1, column \d+$/],
    ['a tab as indentation', 'oidc:\n\tscope: x', /^configuration file is not valid YAML: .* at line 2/],
    ['a repeated key', 'oidc: {}\noidc: {}', /^configuration file is not valid YAML/],
    ['two documents', 'oidc: {}\n---\noidc: {}', /^configuration file is not valid YAML/],
    ['an alias bomb', bomb(), /^configuration file is not valid YAML: its aliases cannot be resolved$/],
    ['a list', '- oidc', /^configuration file must hold a mapping at its top level$/],
    ['a word', 'oidc', /^configuration file must hold a mapping at its top level$/],
  ])('%s aborts', async (_name, file, text) => {
    expect(await problemsOf(file)).toEqual([expect.stringMatching(text)])
  })

  test('content never reaches the message of a malformed file', async () => {
    const [text] = await problemsOf('llm: {model_list: [{litellm_params: {api_key: sk-very-secret, model: [')
    expect(text).not.toContain('sk-very-secret')
  })

  test('an unreadable file aborts and is not named', async () => {
    const denied = Object.assign(new Error('EACCES: permission denied, open /private/config.yaml'), { code: 'EACCES' })
    const loading = loadConfig({ ...MINIMAL, PLATFORM_CONFIG: '/private/config.yaml' }, () => Promise.reject(denied))
    await expect(loading).rejects.toThrow(/^configuration file exists but cannot be read \(EACCES\)$/)
  })

  test('anchors and merge keys work', async () => {
    const config = await load(
      'base: &b {enabled: true, token_env: PLATFORM_IAC_TOKEN}\nservices: {authz: {<<: *b, endpoint: "http://a/"}}',
    )
    expect(config.services.authz).toMatchObject({ enabled: true, token: 'iac-token', endpoint: 'http://a' })
  })
})

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < 9; i++) lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(', ')}]`)
  return lines.join('\n')
}
