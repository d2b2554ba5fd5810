import { describe, expect, it } from 'vitest'
import { readRepositoryPath } from '../../src/repository/address.ts'
import { isConfiguredHost, remoteUrl } from '../../src/repository/remote.ts'
import { gitConfig } from './support.ts'

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

  it.each([
    ['gitlab.com/Acme/Sub/Infra', ['Acme', 'Sub', 'Infra']],
    ['gitlab.com/a/b.c/D/e-f/g_h/infra.git/', ['a', 'b.c', 'D', 'e-f', 'g_h', 'infra']],
    ['gitlab.com/a/my.git.infra', ['a', 'my.git.infra']],
  ])('at GitLab, in groups of any depth: %s', (address, names) =>
    expect(readRepositoryPath(gitlab, `https://${address}`)).toEqual(names))

  it.each([
    ['acme@dev.azure.com/acme/My%20Project/_git/Infra%20Code', 'Infra Code'],
    ['acme.visualstudio.com/My%20Project/_git/Infra%20Code', 'Infra Code'],
    ['ACME@Acme.VisualStudio.com:443/DefaultCollection/My%20Project/_git/Infra%20Code/', 'Infra Code'],
    ['acme.visualstudio.com/DefaultCollection/My%20Project/_git/_optimized/Infra', 'Infra'],
    ['dev.azure.com/acme/My%20Project/_git/Infra.git', 'Infra.git'],
  ])('at Azure DevOps, with blanks, at both hosts, and with every letter of it: %s', (address, name) => {
    const [organization, ...names] = readRepositoryPath(azure, `https://${address}`)
    expect([organization?.toLowerCase(), ...names]).toEqual(['acme', 'My Project', '_git', name])
  })

  it.each([
    'dev.azure.com/acme/_git/Infra',
    'acme.visualstudio.com/_git/Infra',
  ])('at Azure DevOps, where the project is called as the repository: %s', (address) =>
    expect(readRepositoryPath(azure, `https://${address}`)).toEqual(['acme', 'Infra', '_git', 'Infra']))

  const below = (provider: 'GITHUB' | 'GITLAB' | 'AZURE_DEVOPS', path: string) =>
    gitConfig({ provider, host: 'corp.example', base_url: `https://corp.example${path}` })
  it.each([
    ['GITLAB', '/gitlab', 'corp.example/gitlab/group/sub/infra.git', ['group', 'sub', 'infra']],
    ['GITLAB', '/code/git', 'corp.example/code/git/group/infra', ['group', 'infra']],
    ['GITHUB', '/github', 'corp.example/github/Acme/Infra', ['Acme', 'Infra']],
    ['AZURE_DEVOPS', '/tfs', 'corp.example/TFS/Main/Shop/_git/Infra', ['Main', 'Shop', '_git', 'Infra']],
    ['AZURE_DEVOPS', '/tfs', 'corp.example/tfs/Main/_git/Infra', ['Main', 'Infra', '_git', 'Infra']],
    ['AZURE_DEVOPS', '', 'corp.example/tfs/Main/Shop/_git/Infra', ['tfs', 'Main', 'Shop', '_git', 'Infra']],
  ] as const)("at a server of one's own below a path, %s %s: %s", (provider, path, address, names) =>
    expect(readRepositoryPath(below(provider, path), `https://${address}`)).toEqual(names))
})

describe('a repository of Azure DevOps at its older host', () => {
  it.each([
    ['https://acme.visualstudio.com/Shop/_git/Infra', 'https://dev.azure.com/acme/Shop/_git/Infra'],
    ['https://x@acme.visualstudio.com/DefaultCollection/A%20b/_git/C', 'https://dev.azure.com/acme/A%20b/_git/C'],
    ['https://dev.azure.com/acme/Shop/_git/Infra', 'https://dev.azure.com/acme/Shop/_git/Infra'],
    ['https://a.b.visualstudio.com/Shop/_git/Infra', 'https://a.b.visualstudio.com/Shop/_git/Infra'],
  ])('is asked for at the host that gets the credentials: %s', (given, asked) =>
    expect(remoteUrl(azure, given).href).toBe(asked))

  it('stays where it is for another provider', () =>
    expect(remoteUrl(github, 'https://acme.visualstudio.com/Shop/_git/Infra').host).toBe('acme.visualstudio.com'))
})

describe('the credentials of a server below a path', () => {
  const git = gitConfig({ provider: 'GITLAB', host: 'corp.example', base_url: 'https://corp.example/gitlab' })
  it.each([
    ['https://corp.example/gitlab/group/infra', true],
    ['https://corp.example/other/group/infra', false],
    ['https://corp.example/gitlab2/infra', false],
    ['https://corp.example/gitlab/../other/infra', false],
  ])('are for what lies below: %s', (address, own) => expect(isConfiguredHost(git, new URL(address))).toBe(own))
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
    'gitlab.com/Acme/Sub//Infra',
    'gitlab.com/Acme/Infra/-/tree/main',
    'gitlab.com/Acme/Infra/%2e%2e',
    'github.com/Acme/Infra',
    'gitlab.com/../Infra',
  ])('at GitLab: %s', (address) =>
    expect(() => readRepositoryPath(gitlab, `https://${address}`)).toThrow(malformed(address)))

  it.each([
    'dev.azure.com/acme/infra',
    'dev.azure.com/_git/infra',
    'dev.azure.com/acme/x/project/_git/infra',
    'dev.azure.com/acme/_git/_git/infra',
    'acme.visualstudio.com.evil.example/project/_git/infra',
    'dev.azure.com/acme/project/git/infra',
    'dev.azure.com/acme/project/_git/infra/more',
    'acme.visualstudio.com/project/_git/infra/x',
    'dev.azure.com/../project/_git/infra',
  ])('at Azure DevOps: %s', (address) =>
    expect(() => readRepositoryPath(azure, `https://${address}`)).toThrow(malformed(address)))
})
