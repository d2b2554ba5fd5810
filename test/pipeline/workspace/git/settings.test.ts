import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createGitEnvironment } from '../../../../pipeline/workspace/git/settings.ts'
import { gitConfig } from '../../../repository/support.ts'

const place = { directory: '/private/git', workTree: '/uploads/session/clone' }
const saved = { ...process.env }
beforeEach(() => {
  process.env.GIT_SSL_CAINFO = '/operator/ca.pem'
  process.env.GIT_SSL_CAPATH = '/operator/certs'
})
afterEach(() => {
  for (const name of ['GIT_SSL_CAINFO', 'GIT_SSL_CAPATH'])
    if (saved[name] === undefined) delete process.env[name]
    else process.env[name] = saved[name]
})

const remote = (url: string) => ({ url: new URL(url), addresses: ['192.0.2.1'] })
const authorities = (env: Record<string, string>) => [env.GIT_SSL_CAINFO, env.GIT_SSL_CAPATH]

describe("the operator's certificate authorities", () => {
  it('count for the hosts that the operator names', () => {
    const config = gitConfig({ allow_private_hosts: ['git.example.com:8443', 'other.example.com'] })
    for (const url of ['https://github.com/a/b', 'https://git.example.com:8443/a/b', 'https://other.example.com/a/b'])
      expect(authorities(createGitEnvironment(config, place, remote(url)))).toEqual([
        '/operator/ca.pem',
        '/operator/certs',
      ])
  })

  it('do not count for any other host, nor for commands without a network', () => {
    for (const given of [remote('https://git.example.com/a/b'), undefined])
      expect(authorities(createGitEnvironment(gitConfig(), place, given))).toEqual([undefined, undefined])
  })

  it('give way to the file that the configuration names', () => {
    const env = createGitEnvironment(
      gitConfig({ ca_file: '/platform/ca.pem' }),
      place,
      remote('https://github.com/a/b'),
    )
    expect(authorities(env)).toEqual([undefined, '/operator/certs'])
    expect(Object.values(env)).toContain('/platform/ca.pem')
  })
})

it('names the directory and the work tree in every call, and trusts no repository that is found', () => {
  const env = createGitEnvironment(gitConfig(), place)
  expect(env).toMatchObject({ GIT_DIR: place.directory, GIT_WORK_TREE: place.workTree })
  const settings = Object.entries(env).filter(([name]) => name.startsWith('GIT_CONFIG_KEY_'))
  const values = settings.map(([name, key]) => [key, env[name.replace('KEY', 'VALUE')]])
  expect(Object.fromEntries(values)).toMatchObject({ 'safe.bareRepository': 'explicit', 'core.fsmonitor': 'false' })
})
