import { describe, expect, it } from 'vitest'
import { checkIacPath } from '../../src/repository/check-input.ts'

describe('iac_path', () => {
  it.each([null, undefined, ''])('takes %j for the repository root', (value) => {
    expect(checkIacPath(value)).toEqual({ ok: true, path: null })
  })

  it.each(['.', 'infra', 'live/prod', 'a..b', '..a/b..', './x', 'a//b', 'über/straße'])('accepts %s', (path) => {
    expect(checkIacPath(path)).toEqual({ ok: true, path })
  })

  it.each(['/infra', '..', '../x', 'a/../b', 'a/..', '//x', 'C:/x'])('refuses %s', (path) => {
    expect(checkIacPath(path)).toEqual({
      ok: false,
      text: "iac_path must be a repo-relative path (not absolute) and must not contain '..' segments",
    })
  })

  it.each(['a\\b', '..\\x', 'a\u0000b', 'a\nb'])('refuses the character in %j', (path) => {
    expect(checkIacPath(path).ok).toBe(false)
  })
})
