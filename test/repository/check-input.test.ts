import { describe, expect, it } from 'vitest'
import { checkIacPath, checkRepositoryUri } from '../../src/repository/check-input.ts'

const text = (uri: string) => {
  const check = checkRepositoryUri(uri)
  return check.ok ? null : check.text
}

describe('repository address', () => {
  it.each([
    'https://github.com/acme/infra',
    'https://github.com/acme/infra.git',
    'HTTPS://GitHub.com/acme/infra',
    'https://user@host/org/repo.git',
    'https://host:8443/org/repo.git',
    'https://user@[2001:db8::1]:8443/org/repo.git',
    'https://host',
    'https://host/a:b@c',
  ])('accepts %s and keeps it as it is', (uri) => {
    expect(checkRepositoryUri(uri)).toEqual({ ok: true, uri })
  })

  it('trims surrounding blanks', () => {
    expect(checkRepositoryUri('  https://host/a/b\n')).toEqual({ ok: true, uri: 'https://host/a/b' })
  })

  it.each([
    '',
    'https://',
    'https:///x',
    'https:host/x',
    'https:/host/x',
    'https:\\\\host/x',
    'https://host\\x',
    'https://?x',
    'https://#x',
    'https://:443/x',
    'https://user@/x',
    'https://@/x',
    'https://host:99999/x',
    'https://ho st/x',
    'https://host/a b',
    'https://host/a\tb',
    'https://host/a\nb',
    'https://host/a\u0000b',
    'https://host/a\u00a0b',
    'ht\ntps://host/x',
    'http://host/x',
    'git://host/x',
    'ssh://git@host/x',
    'git+ssh://git@host/x',
    'git@host:org/x.git',
    'file:///etc',
    'ftp://host/x',
    '/srv/repository',
    './repository',
    'github.com/acme/infra',
    'https://-oProxyCommand=x@host/x',
    'https://%2dx@host/x',
    '--upload-pack=touch /tmp/x',
    'ext::sh -c id',
  ])('refuses %j as no https address', (uri) => {
    expect(text(uri)).toBe('repo_uri must be an https:// URL with a host.')
  })

  it.each([
    'https://user:secret@host/x',
    'https://user:@host/x',
    'https://:@host/x',
    'https://:secret@host/x',
    'https://user%3Asecret@host/x',
    'https://user%3asecret@host/x',
    'https://a@b:c@host/x',
    'https://u:p@h@host/x',
  ])('refuses the secret in %s without repeating it', (uri) => {
    expect(text(uri)).toMatch(/^repo_uri must not embed a password or token;/)
    expect(text(uri)).not.toContain('host/x')
  })
})

describe('iac_path', () => {
  it.each([null, undefined, ''])('takes %j for the repository root', (value) => {
    expect(checkIacPath(value)).toEqual({ ok: true, path: null })
  })

  it.each([
    '.',
    'infra',
    'live/prod',
    'a..b',
    '..a/b..',
    './x',
    'a//b',
    'über/straße',
    'my stack/prod',
  ])('accepts %s', (path) => {
    expect(checkIacPath(path)).toEqual({ ok: true, path })
  })

  it.each(['/infra', '..', '../x', 'a/../b', 'a/..', '//x', 'C:/x'])('refuses %s', (path) => {
    expect(checkIacPath(path)).toEqual({
      ok: false,
      text: "iac_path must be a repo-relative path (not absolute) and must not contain '..' segments",
    })
  })

  it.each([' live', 'live ', '\u00a0live', ' '])('refuses the blank at the end of %j', (path) => {
    expect(checkIacPath(path)).toEqual({
      ok: false,
      text: 'iac_path must not begin or end with a blank; blanks inside of it are part of the path',
    })
  })

  it.each(['a\\b', '..\\x', 'a\u0000b', 'a\nb'])('refuses the character in %j', (path) => {
    expect(checkIacPath(path).ok).toBe(false)
  })
})
