import { describe, expect, it } from 'vitest'
import { readRepositoryPath } from '../../src/pull-requests/host.ts'
import { gitConfig } from '../repository/support.ts'

const github = gitConfig()
const gitlab = gitConfig({ provider: 'GITLAB', host: 'gitlab.com' })
const azure = gitConfig({ provider: 'AZURE_DEVOPS', host: 'dev.azure.com' })
const malformed = (shown: string) =>
  expect.objectContaining({ status: 400, message: `Malformed repository URL '${shown}'` })

describe('a repository has its name', () => {
  it.each([
    'https://github.com/Acme/Infra',
    'https://github.com/Acme/Infra.git',
    'https://github.com/Acme/Infra/',
    'https://github.com/Acme/Infra.git/',
    ' https://github.com/Acme/Infra ',
    'HTTPS://GitHub.com/Acme/Infra',
    'https://github.com:443/Acme/Infra',
    'https://someone@github.com/Acme/Infra',
    'https://github.com/Acme/Infra?tab=readme',
    'https://github.com/Acme/Infra.git#readme',
    'https://github.com/Acme/Infra/tree/main',
  ])('at GitHub: %s', (uri) => expect(readRepositoryPath(github, uri).slice(0, 2)).toEqual(['Acme', 'Infra']))

  it('at GitLab, with letter case and dots', () => {
    const names = ['Acme.Group', 'my.infra']
    expect(readRepositoryPath(gitlab, 'https://oauth2@gitlab.com/Acme.Group/my.infra.git')).toEqual(names)
  })

  it('at Azure DevOps, with blanks', () => {
    const name = ['acme', 'My Project', '_git', 'Infra Code']
    expect(readRepositoryPath(azure, 'https://acme@dev.azure.com/acme/My%20Project/_git/Infra%20Code')).toEqual(name)
  })
})

describe('a malformed address', () => {
  it.each([
    ['https://github.com', 'github.com'],
    ['https://github.com/Acme', 'github.com/Acme'],
    ['https://github.com/Acme/.git', 'github.com/Acme/'],
    ['https://github.com//Infra', 'github.com//Infra'],
    ['https://gist.github.com/Acme/Infra', 'gist.github.com/Acme/Infra'],
    ['https://github.com.evil.example/Acme/Infra', 'github.com.evil.example/Acme/Infra'],
    ['https://github.com@evil.example/Acme/Infra', 'evil.example/Acme/Infra'],
    ['https://secret@evil.example/Acme/Infra?token=x', 'evil.example/Acme/Infra'],
    ['https://github.com/Acme/../Other/Infra', 'github.com/Acme/../Other/Infra'],
    ['https://github.com/%2e%2e/user', 'github.com/%2e%2e/user'],
    ['https://github.com/Acme/a%2fb', 'github.com/Acme/a%2fb'],
    ['https://github.com/Acme/%zz', 'github.com/Acme/%zz'],
  ])('at GitHub: %s', (uri, shown) => expect(() => readRepositoryPath(github, uri)).toThrow(malformed(shown)))

  it.each([
    'gitlab.com/Acme',
    'gitlab.com/Acme/Sub/Infra',
    'github.com/Acme/Infra',
    'gitlab.com/../Infra',
  ])('at GitLab: %s', (address) =>
    expect(() => readRepositoryPath(gitlab, `https://${address}`)).toThrow(malformed(address)))

  it.each([
    'dev.azure.com/acme/infra',
    'dev.azure.com/acme/_git/infra',
    'dev.azure.com/acme/project/git/infra',
    'dev.azure.com/acme/project/_git/infra/more',
    'acme.visualstudio.com/project/_git/infra/x',
    'dev.azure.com/../project/_git/infra',
  ])('at Azure DevOps: %s', (address) =>
    expect(() => readRepositoryPath(azure, `https://${address}`)).toThrow(malformed(address)))
})
