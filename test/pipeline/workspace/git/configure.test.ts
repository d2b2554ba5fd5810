import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configureGit } from '../../../../pipeline/workspace/git/settings.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { siteConfig } from '../support.ts'

let home: string
let lines: string[]
const log = createLogger({ write: (line) => lines.push(line) })

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'home-'))
  lines = []
})
afterEach(() => rm(home, { recursive: true, force: true }))

const settings = () => readFile(join(home, '.gitconfig'), 'utf8')

describe('git at boot', () => {
  it('gets author and credential store', async () => {
    await configureGit(siteConfig('/x', { user: 'a b@c', token: "p:s/w'd%" }), log, home)
    expect(await readFile(join(home, '.git-credentials'), 'utf8')).toBe(
      'https://a%20b%40c:p%3As%2Fw%27d%25@github.com\n',
    )
    expect((await stat(join(home, '.git-credentials'))).mode & 0o777).toBe(0o600)
    const text = await settings()
    for (const line of ['name = Platform', 'email = platform@noreply.invalid', 'helper = store'])
      expect(text).toContain(line)
    expect(lines).toEqual([])
  })

  it('names the host of the provider in use', async () => {
    await configureGit(siteConfig('/x', { provider: 'GITLAB', host: 'gitlab.com', user: 'u', token: 't' }), log, home)
    expect(await readFile(join(home, '.git-credentials'), 'utf8')).toBe('https://u:t@gitlab.com\n')
  })

  it.each([
    [{ user: '' }, 'unset: user'],
    [{ token: '' }, 'unset: token'],
    [{ user: '', token: '' }, 'unset: user, token'],
  ])('warns of what is unset and goes on: %o', async (changes, text) => {
    await configureGit(siteConfig('/x', changes), log, home)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(text)
    expect(await settings()).not.toContain('helper')
    await expect(stat(join(home, '.git-credentials'))).rejects.toThrow()
  })

  it('keeps other settings, replaces its own, and takes an author that looks like an option', async () => {
    await writeFile(join(home, '.gitconfig'), '[alias]\n\tco = checkout\n[user]\n\tname = Old\n\tname = Older\n')
    await configureGit(siteConfig('/x', { author_name: '--unset' }), log, home)
    const text = await settings()
    expect(text).toContain('co = checkout')
    expect(text).toContain('name = --unset')
    expect(text).not.toContain('Old')
  })

  it('narrows a credentials file that was open to others', async () => {
    await writeFile(join(home, '.git-credentials'), 'old', { mode: 0o644 })
    await chmod(join(home, '.git-credentials'), 0o644)
    await configureGit(siteConfig('/x'), log, home)
    expect((await stat(join(home, '.git-credentials'))).mode & 0o777).toBe(0o600)
  })

  it('never throws, and never logs the token', async () => {
    await configureGit(siteConfig('/x'), log, join(home, 'missing'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('Failed to configure git credentials: ')
    expect(lines[0]).not.toContain('token-of-the-bot')
  })
})
