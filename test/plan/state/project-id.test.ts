import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('project id', () => {
  it('is the SHA-256 of repository, scope and path, joined by line feeds', async () => {
    const id = await deriveProjectId('https://github.com/acme/infra.git', 'sub-1', 'live/prod')
    expect(id).toBe(sha256('github.com/acme/infra\nsub-1\nlive/prod'))
  })

  it.each([
    ['letter case', 'https://GitHub.com/Acme/INFRA', 'Sub-1', 'live/prod'],
    ['user and port', 'https://bob@github.com:8443/acme/infra', 'sub-1', 'live/prod'],
    ['.git and slashes', 'https://github.com//acme/infra.git//', 'sub-1', '/live//prod/'],
    ['blanks and dot segments', ' https://github.com/acme/infra ', ' sub-1 ', './live/./prod '],
  ])('is the same whatever the spelling: %s', async (_, repository, scope, path) => {
    const expected = await deriveProjectId('https://github.com/acme/infra', 'sub-1', 'live/prod')
    expect(await deriveProjectId(repository, scope, path)).toBe(expected)
  })

  it('is one for null, empty and dot paths', async () => {
    const ids = await Promise.all(
      [null, '', '.', './', '/'].map((path) => deriveProjectId('https://github.com/a/b', 's', path)),
    )
    expect(new Set(ids).size).toBe(1)
    expect(ids[0]).toBe(sha256('github.com/a/b\ns\n'))
  })

  it('differs when repository, scope or path differs', async () => {
    const ids = await Promise.all([
      deriveProjectId('https://github.com/a/b', 's', 'p'),
      deriveProjectId('https://github.com/a/c', 's', 'p'),
      deriveProjectId('https://gitlab.com/a/b', 's', 'p'),
      deriveProjectId('https://github.com/a/b', 't', 'p'),
      deriveProjectId('https://github.com/a/b', 's', 'P'),
      deriveProjectId('https://github.com/a/b.git.git', 's', 'p'),
    ])
    expect(new Set(ids).size).toBe(6)
  })
})
