import { describe, expect, test } from 'vitest'
import { load, yaml } from './support.ts'

describe('git', () => {
  test.each([
    ['GITHUB', 'GITHUB', 'github.com'],
    ['github.com', 'GITHUB', 'github.com'],
    ['PROVIDER_A', 'GITHUB', 'github.com'],
    ['AZURE_DEVOPS', 'AZURE_DEVOPS', 'dev.azure.com'],
    ['dev.azure.com', 'AZURE_DEVOPS', 'dev.azure.com'],
    ['PROVIDER_B', 'AZURE_DEVOPS', 'dev.azure.com'],
    ['GITLAB', 'GITLAB', 'gitlab.com'],
    ['gitlab.com', 'GITLAB', 'gitlab.com'],
    ['PROVIDER_C', 'GITLAB', 'gitlab.com'],
  ])('provider %s', async (spelled, provider, host) => {
    expect((await load(yaml('git.provider', spelled))).git).toMatchObject({ provider, host })
  })

  test('a self-hosted server gives the host, with its port and without its path', async () => {
    expect((await load(yaml('git.base_url', 'https://git.example.com/code/git/'))).git).toMatchObject({
      host: 'git.example.com',
      base_url: 'https://git.example.com/code/git',
    })
    expect((await load(yaml('git.base_url', 'https://Git.example.com:8443'))).git.host).toBe('git.example.com:8443')
    expect((await load(yaml('git.base_url', 'https://git.example.com:443'))).git.host).toBe('git.example.com')
  })

  test('credentials come from the named variables; without them the platform loads', async () => {
    expect((await load(null, { GIT_USER: 'bot', GIT_TOKEN: 'pat' })).git).toMatchObject({ user: 'bot', token: 'pat' })
    const named = 'git: {pat_user_env: U, pat_token_env: T}'
    expect((await load(named, { U: 'u', T: 't', GIT_TOKEN: 'pat' })).git).toMatchObject({ user: 'u', token: 't' })
    expect((await load(named, { GIT_USER: 'bot' })).git).toMatchObject({ user: '', token: '' })
  })
})
