import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { configureGit, createGitEnvironment } from '../../../../pipeline/workspace/git/settings.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { useFolder } from '../../../helpers/folder.ts'
import { gitConfig } from '../../../repository/support.ts'
import { siteConfig } from '../support.ts'

const place = { directory: '/private/git', workTree: '/uploads/session/clone' }
beforeEach(() => {
  vi.stubEnv('GIT_SSL_CAINFO', '/operator/ca.pem')
  vi.stubEnv('GIT_SSL_CAPATH', '/operator/certs')
})
afterEach(() => {
  vi.unstubAllEnvs()
})

const remote = (url: string) => ({ url: new URL(url), addresses: ['192.0.2.1'] })
const OPERATOR = ['/operator/ca.pem', '/operator/certs']
const authorities = (env: Record<string, string>) => [env.GIT_SSL_CAINFO, env.GIT_SSL_CAPATH]

describe("the operator's certificate authorities", () => {
  it('count for the hosts that the operator names', () => {
    const config = gitConfig({ allow_private_hosts: ['git.example.com:8443', 'other.example.com'] })
    for (const url of ['https://github.com/a/b', 'https://git.example.com:8443/a/b', 'https://other.example.com/a/b'])
      expect(authorities(createGitEnvironment(config, place, remote(url)))).toEqual(OPERATOR)
  })

  it('do not count for any other host, nor for commands without a network', () => {
    for (const given of [remote('https://git.example.com/a/b'), undefined])
      expect(authorities(createGitEnvironment(gitConfig(), place, given))).toEqual([undefined, undefined])
  })

  it('give way to the file that the configuration names', () => {
    const config = gitConfig({ ca_file: '/platform/ca.pem' })
    const env = createGitEnvironment(config, place, remote('https://github.com/a/b'))
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

const folder = useFolder(beforeEach)
const lines: string[] = []
const log = createLogger({ write: (line) => lines.push(line) })
beforeEach(() => {
  lines.length = 0
})

const settings = () => readFile(join(folder.path, '.gitconfig'), 'utf8')

describe('git at boot', () => {
  it('gets author and credential store', async () => {
    await configureGit(siteConfig('/x', { user: 'a b@c', token: "p:s/w'd%" }), log, folder.path)
    expect(await readFile(join(folder.path, '.git-credentials'), 'utf8')).toBe(
      'https://a%20b%40c:p%3As%2Fw%27d%25@github.com\n',
    )
    expect((await stat(join(folder.path, '.git-credentials'))).mode & 0o777).toBe(0o600)
    const text = await settings()
    for (const line of ['name = Platform', 'email = platform@noreply.invalid', 'helper = store'])
      expect(text).toContain(line)
    expect(lines).toEqual([])
  })

  it('names the host of the provider in use', async () => {
    const gitlab = { provider: 'GITLAB', host: 'gitlab.com', user: 'u', token: 't' } as const
    await configureGit(siteConfig('/x', gitlab), log, folder.path)
    expect(await readFile(join(folder.path, '.git-credentials'), 'utf8')).toBe('https://u:t@gitlab.com\n')
  })

  it.each([
    [{ user: '' }, 'unset: user'],
    [{ token: '' }, 'unset: token'],
    [{ user: '', token: '' }, 'unset: user, token'],
  ])('warns of what is unset and goes on: %o', async (changes, text) => {
    await configureGit(siteConfig('/x', changes), log, folder.path)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(text)
    expect(await settings()).not.toContain('helper')
    await expect(stat(join(folder.path, '.git-credentials'))).rejects.toThrow()
  })

  it('keeps other settings, replaces its own, and takes an author that looks like an option', async () => {
    await writeFile(join(folder.path, '.gitconfig'), '[alias]\n\tco = checkout\n[user]\n\tname = Old\n\tname = Older\n')
    await configureGit(siteConfig('/x', { author_name: '--unset' }), log, folder.path)
    const text = await settings()
    expect(text).toContain('co = checkout')
    expect(text).toContain('name = --unset')
    expect(text).not.toContain('Old')
  })

  it('narrows a credentials file that was open to others', async () => {
    await writeFile(join(folder.path, '.git-credentials'), 'old', { mode: 0o644 })
    await chmod(join(folder.path, '.git-credentials'), 0o644)
    await configureGit(siteConfig('/x'), log, folder.path)
    expect((await stat(join(folder.path, '.git-credentials'))).mode & 0o777).toBe(0o600)
  })

  it('never throws, and never logs the token', async () => {
    await configureGit(siteConfig('/x'), log, join(folder.path, 'missing'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('Failed to configure git credentials: ')
    expect(lines[0]).not.toContain('token-of-the-bot')
  })
})
