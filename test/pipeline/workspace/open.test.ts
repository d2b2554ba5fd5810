import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace } from '../../../pipeline/workspace/open.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { git_, round, SESSION, siteConfig, startSite, TOKEN, TOKEN_FORMS } from './support.ts'

const site = startOnce(startSite)

const BRANCH = 'Platform/2026-01-31_235959-1a2b'
const newSession = () => crypto.randomUUID()
const remoteHead = (uri: string, branch = 'main') => site.remote(uri, 'rev-parse', branch)

describe('a first call', () => {
  it('clones below the upload folder and pushes the branch right away, without a commit', async () => {
    const { uri, session, workspace } = await site.start()
    expect(workspace.clone).toMatch(new RegExp(`/uploads/${session}/[0-9a-f-]{36}$`))
    expect(workspace).toMatchObject({ iacRoot: workspace.clone, branch: BRANCH, defaultBranch: 'main' })
    expect(await remoteHead(uri, BRANCH)).toBe(await remoteHead(uri))
    expect(await workspace.head()).toBe(await remoteHead(uri))
    const merge = await git_(['--git-dir', workspace.gitDirectory, 'config', `branch.${BRANCH}.merge`])
    expect(merge).toBe(`refs/heads/${BRANCH}`)
    await workspace.dispose()
    expect(await readdir(join(site.folder, 'uploads', session))).toEqual([])
  })

  it('finds the default branch whatever its name', async () => {
    const uri = await site.add({ 'main.tf': 'x' })
    await site.remote(uri, 'branch', 'release/2026/main', 'main')
    await site.remote(uri, 'symbolic-ref', 'HEAD', 'refs/heads/release/2026/main')
    const workspace = await site.open(uri, { session: newSession() })
    expect(workspace.defaultBranch).toBe('release/2026/main')
  })

  it('never overwrites a branch of the same name that is there already', async () => {
    const uri = await site.add({ 'main.tf': 'x' })
    await site.remote(uri, 'branch', BRANCH, 'main')
    await site.remote(uri, 'update-ref', 'refs/heads/other', await commitOnTop(uri, 'main'))
    await site.remote(uri, 'update-ref', `refs/heads/${BRANCH}`, 'refs/heads/other')
    await expect(site.open(uri, { session: newSession() })).rejects.toMatchObject({ status: 500 })
    expect(await remoteHead(uri, BRANCH)).toBe(await remoteHead(uri, 'other'))
  })

  it('reads and writes a private repository with the credentials, which are nowhere in the clone', async () => {
    const { workspace } = await site.start({}, undefined, { private: true })
    const config = await readFile(join(workspace.gitDirectory, 'config'), 'utf8')
    for (const form of TOKEN_FORMS) expect(config).not.toContain(form)
  })

  it('reaches a server below a path, whose credentials are for that path alone', async () => {
    const below = await startSite({}, { path: '/code' })
    const own = await below.start({}, undefined, { private: true })
    expect(await below.remote(own.uri, 'rev-parse', BRANCH)).toBe(await own.workspace.head())
    await below.close()
    const elsewhere = await startSite({}, { path: '/code' })
    elsewhere.config.git.base_url = elsewhere.config.git.base_url.replace(/code$/, 'other')
    await expect(elsewhere.start({}, undefined, { private: true })).rejects.toMatchObject({ status: 400 })
    await elsewhere.close()
  })

  it('drops a user name of the address, and works all the same', async () => {
    const uri = await site.add({ 'main.tf': 'x' }, { private: true })
    const workspace = await site.open(uri.replace('https://', 'https://someone@'), { session: newSession() })
    expect(await readFile(join(workspace.gitDirectory, 'config'), 'utf8')).not.toContain('someone@')
  })
})

/** Makes a commit on top of the branch in the bare repository. */
async function commitOnTop(uri: string, branch: string): Promise<string> {
  return site.remote(uri, 'commit-tree', `${branch}^{tree}`, '-p', branch, '-m', 'by hand')
}

describe('a later round', () => {
  it('goes on at the tip of the session branch and pushes nothing', async () => {
    const { uri, session, workspace: first } = await site.start()
    await writeFile(join(first.iacRoot, 'new.tf'), 'one')
    const base_commit = await first.commitAndPush()
    await first.dispose()
    const tip = await commitOnTop(uri, BRANCH)
    await site.remote(uri, 'update-ref', `refs/heads/${BRANCH}`, tip)
    const second = await site.open(uri, { session, number: 2, base_commit })
    expect(await second.head()).toBe(tip)
    expect(await readFile(join(second.iacRoot, 'new.tf'), 'utf8')).toBe('one')
  })

  it('starts from the default branch when the branch was deleted', async () => {
    const base_commit = '0123456789012345678901234567890123456789'
    const { uri, workspace } = await site.start({ number: 3, base_commit })
    expect(await workspace.head()).toBe(await remoteHead(uri))
    expect(await remoteHead(uri, BRANCH)).toBe(await workspace.head())
    expect(workspace.notes).toEqual([
      `The branch '${BRANCH}' of the session is no longer at the git host, so this round began at the default branch, ` +
        `without changes of earlier rounds that were not merged; the last of them is commit ${base_commit}.`,
    ])
  })

  it('goes on when another branch became the default one, and the old one was deleted', async () => {
    const { uri, session, workspace } = await site.start()
    await writeFile(join(workspace.iacRoot, 'new.tf'), 'one')
    const base_commit = await workspace.commitAndPush()
    await workspace.dispose()
    await site.remote(uri, 'branch', '-m', 'main', 'trunk')
    await site.remote(uri, 'symbolic-ref', 'HEAD', 'refs/heads/trunk')
    const later = await site.open(uri, { session, number: 2, base_commit })
    expect([later.defaultBranch, await later.head(), later.notes]).toEqual(['trunk', base_commit, []])
    expect(await later.baseCommit()).toBe(await site.remote(uri, 'rev-parse', 'trunk'))
    expect((await later.branchDiff()).map(({ path }) => path)).toEqual(['new.tf'])
    await later.dispose()
  })

  it.each([
    ['as large hosts do', 'true'],
    ['by a host that serves no single commits', 'false'],
  ])('is reset to where the previous round ended when it was interrupted, %s', async (_, allowed) => {
    const uri = await site.add({ 'main.tf': 'x' })
    for (const name of ['AnySHA1', 'ReachableSHA1', 'TipSHA1'])
      await site.remote(uri, 'config', `uploadpack.allow${name}InWant`, allowed)
    const session = newSession()
    const first = await site.open(uri, { session })
    await writeFile(join(first.iacRoot, 'a.tf'), 'kept')
    const base_commit = await first.commitAndPush()
    const interrupted = await site.open(uri, { session, number: 2, base_commit })
    for (const text of ['one', 'two']) {
      await writeFile(join(interrupted.iacRoot, 'b.tf'), text)
      await interrupted.commitAndPush()
    }
    const again = await site.open(uri, { session, number: 2, attempt: 2, base_commit })
    expect(await again.head()).toBe(base_commit)
    expect(await remoteHead(uri, BRANCH)).toBe(base_commit)
    expect((await readdir(again.iacRoot)).sort()).toEqual(['.platform-workspace', 'a.tf', 'main.tf'])
    await writeFile(join(again.iacRoot, 'c.tf'), 'three')
    const commit = await again.commitAndPush()
    expect(await remoteHead(uri, BRANCH)).toBe(commit)
  })

  it('begins at the default branch when the very first round was interrupted', async () => {
    const { uri, session, workspace: first } = await site.start()
    await writeFile(join(first.iacRoot, 'a.tf'), 'lost')
    await first.commitAndPush()
    const again = await site.open(uri, { session, attempt: 2 })
    expect(await again.head()).toBe(await remoteHead(uri))
    expect(await remoteHead(uri, BRANCH)).toBe(await again.head())
  })
})

describe('a preview', () => {
  const ONLY_LOOKS = { preview: true, mode: 'drift' } as const
  const refs = (uri: string) => site.remote(uri, 'for-each-ref')

  it('pushes nothing, whether or not the remote has the branch', async () => {
    const uri = await site.add({ 'main.tf': 'x' })
    const session = newSession()
    const before = await refs(uri)
    for (const changes of [{}, { attempt: 2 }, { number: 2 }, { number: 2, attempt: 2 }]) {
      const workspace = await site.open(uri, { session, ...ONLY_LOOKS, ...changes })
      expect(workspace.branch).toBe(BRANCH)
      expect(await workspace.head()).toBe(await remoteHead(uri))
      expect(await workspace.branchDiff()).toEqual([])
      await workspace.dispose()
      expect(await refs(uri)).toBe(before)
    }
    const working = await site.open(uri, { session, number: 3 })
    await writeFile(join(working.iacRoot, 'a.tf'), 'built')
    const commit = await working.commitAndPush()
    await working.dispose()
    const after = await refs(uri)
    const looking = await site.open(uri, { session, ...ONLY_LOOKS, number: 4, attempt: 2, base_commit: commit })
    expect(await looking.head()).toBe(commit)
    await looking.dispose()
    expect(await refs(uri)).toBe(after)
  })

  it('begins an interrupted look at the commit of the last round, and leaves the branch where it is', async () => {
    const { uri, session, workspace: first } = await site.start()
    await writeFile(join(first.iacRoot, 'a.tf'), 'one')
    const base_commit = await first.commitAndPush()
    await writeFile(join(first.iacRoot, 'b.tf'), 'somebody else')
    const tip = await first.commitAndPush()
    await first.dispose()
    const looking = await site.open(uri, { session, ...ONLY_LOOKS, number: 2, attempt: 2, base_commit })
    expect(await looking.head()).toBe(base_commit)
    expect(await remoteHead(uri, BRANCH)).toBe(tip)
  })

  it('can neither commit nor pin', async () => {
    const { workspace: looking } = await site.start(ONLY_LOOKS)
    await writeFile(join(looking.iacRoot, 'a.tf'), 'x')
    const message = 'A preview changes neither the repository nor what is pinned.'
    for (const write of [looking.commitAndPush, looking.keep]) await expect(write()).rejects.toMatchObject({ message })
  })
})

describe('leftovers of earlier runs', () => {
  const folder = (session: string, ...names: string[]) => join(site.folder, 'uploads', session, ...names)

  it('are removed, the pinned directory is kept', async () => {
    const uri = await site.add({ 'main.tf': 'x' })
    const session = newSession()
    for (const name of ['saved-plan', 'saved-plan.old-1234', 'dead-call'])
      await mkdir(folder(session, name), { recursive: true })
    await writeFile(folder(session, 'saved-plan', 'mark'), 'current')
    const workspace = await site.open(uri, { session, number: 2, attempt: 2 })
    expect((await readdir(folder(session))).sort()).toEqual([workspace.clone.split('/').at(-1), 'saved-plan'].sort())
    expect(await readFile(folder(session, 'saved-plan', 'mark'), 'utf8')).toBe('current')
  })

  it('include a pin put aside by a crash, which becomes the pinned one again', async () => {
    const uri = await site.add({ 'main.tf': 'x' })
    const session = newSession()
    await mkdir(folder(session, 'saved-plan.old-1234'), { recursive: true })
    await writeFile(folder(session, 'saved-plan.old-1234', 'mark'), 'reviewed')
    const workspace = await site.open(uri, { session, number: 2, attempt: 2 })
    expect(await readFile(folder(session, 'saved-plan', 'mark'), 'utf8')).toBe('reviewed')
    await workspace.keep()
    expect(await readdir(folder(session))).toEqual(['saved-plan'])
    expect((await stat(folder(session, 'saved-plan', 'main.tf'))).isFile()).toBe(true)
    await workspace.dispose()
    expect(await readdir(folder(session))).toEqual(['saved-plan'])
  })
})

describe('the engine root', () => {
  const files = {
    'main.tf': 'x',
    'live/prod/main.tf': 'x',
    file: 'x',
    alias: { symlink: 'live/prod' },
    out: { symlink: '/etc' },
    up: { symlink: '../../..' },
    git: { symlink: '.git' },
    gone: { symlink: 'nowhere' },
    'live/back': { symlink: '..' },
  }

  it.each([
    ['live/prod', 'live/prod'],
    ['./live//prod/', 'live/prod'],
    ['alias', 'live/prod'],
    ['live/back', ''],
    ['.', ''],
  ])('%s is found', async (root_path, real) => {
    const { workspace } = await site.start({ root_path }, files)
    expect(workspace.iacRoot).toBe(real ? join(workspace.clone, real) : workspace.clone)
  })

  it.each([
    'missing',
    'file',
    'out',
    'up',
    'git',
    'gone',
    '.git',
    '.git/info',
    '../x',
    'live/prod/main.tf',
    '--upload-pack=x',
  ])('%s is refused, and nothing is left behind', async (root_path) => {
    const uri = await site.add(files)
    const session = newSession()
    const message = `iac_path '${root_path}' is not a directory inside the repository`
    await expect(site.open(uri, { session, root_path })).rejects.toMatchObject({ message })
    expect(await readdir(join(site.folder, 'uploads', session))).toEqual([])
  })
})

/** Commits a file to the default branch, whose path is written as in C. */
function commitFile(uri: string, path: string, content: string, mode = '100644') {
  const lines = [
    'commit refs/heads/main\ncommitter a <a@example.com> 1 +0000\ndata 1\nx\nfrom refs/heads/main^0',
    `M ${mode} inline "${path}"\ndata ${content.length}\n${content}\n`,
  ]
  execFileSync('git', ['--git-dir', site.host.pathOf(uri), 'fast-import', '--quiet'], { input: lines.join('\n') })
}

it('changes no file by itself, whatever line ends the repository wants', async () => {
  const uri = await site.add({ 'main.tf': 'a = 1\r\nb = 2\r\n' })
  commitFile(uri, '.gitattributes', '*.tf text eol=lf\n')
  const workspace = await site.open(uri, { session: newSession() })
  expect(await workspace.pendingChanges()).toEqual([])
  expect(await readFile(join(workspace.iacRoot, 'main.tf'), 'utf8')).toBe('a = 1\r\nb = 2\r\n')
})

describe('names that are not UTF-8', () => {
  it.each([
    ['a link, which may lead out of the clone', '120000', '.txt', '/etc'],
    ['code, which no check could read', '100644', '.tf', 'output "x" {}'],
    ['code in a folder', '100644', '/main.tofu.json', '{}'],
  ])('are refused for %s', async (_, mode, name, content) => {
    const uri = await site.add({ 'main.tf': 'x' })
    commitFile(uri, `caf\\351${name}`, content, mode)
    const session = newSession()
    await expect(site.open(uri, { session })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('is not UTF-8'),
    })
    expect(await readdir(join(site.folder, 'uploads', session))).toEqual([])
  })

  it('stay for a file that the engine does not load', async () => {
    const uri = await site.add({ 'main.tf': 'x' })
    commitFile(uri, 'caf\\351.md', 'text')
    expect((await site.open(uri, { session: newSession() })).iacRoot).not.toBe('')
  })
})

describe('a repository that cannot be cloned', () => {
  it('is `git clone failed`, with the reason in the log only', async () => {
    const before = site.lines.length
    await expect(site.open(`${site.host.url}/acme/missing.git`, { session: newSession() })).rejects.toMatchObject({
      status: 500,
      message: 'git clone failed',
    })
    expect(site.lines.slice(before).join()).toContain('not found')
  })

  it('says that a repository or its default branch has no commit', async () => {
    const empty = await site.add({}, { empty: true })
    await expect(site.open(empty, { session: newSession() })).rejects.toMatchObject({
      status: 400,
      message: 'The repository is empty: push a first commit to its default branch, then ask again.',
    })
    const moved = await site.add({ 'main.tf': '' })
    await site.remote(moved, 'symbolic-ref', 'HEAD', 'refs/heads/unborn')
    await expect(site.open(moved, { session: newSession() })).rejects.toMatchObject({
      status: 400,
      message:
        'The default branch of the repository has no commit: choose one that has, or push to it, then ask again.',
    })
  })

  it('is refused before any contact when its host is not public', async () => {
    const config = siteConfig(join(site.folder, 'uploads'))
    const options = { log: silentLogger, resolver: async () => ['10.1.2.3'] }
    await expect(openWorkspace(config, round('https://example.com/a/b'), options)).rejects.toMatchObject({
      status: 400,
      message: 'Repository is not reachable or access was denied.',
    })
  })

  it('is asked at the checked address, not at a second look-up of the name', async () => {
    const uri = await site.add({ 'main.tf': 'x' })
    const port = new URL(site.host.url).port
    const name = `name-of-no-dns.invalid:${port}`
    const git = { base_url: `https://${name}`, host: name, ca_file: site.host.ca_file }
    const config = siteConfig(join(site.folder, 'uploads'), git)
    const lines: string[] = []
    const error = (_: string, fields?: Record<string, unknown>) => lines.push(String(fields?.reason))
    const address = uri.replace(site.host.host, name)
    const options = { log: { ...silentLogger, error }, resolver: async () => ['127.0.0.1'] }
    const opening = openWorkspace(config, round(address, { session: newSession() }), options)
    await expect(opening).rejects.toMatchObject({ message: 'git clone failed' })
    // The connection was made, but the certificate is for another name.
    expect(lines.join()).toMatch(/certificate|SSL/i)
    expect(lines.join()).not.toMatch(/could not resolve/i)
  })

  it('stops when the run is given up', async () => {
    const uri = await site.add({ 'main.tf': 'x' })
    const options = { log: silentLogger, signal: AbortSignal.abort(new Error('lease lost')) }
    const gone = openWorkspace(site.config, round(uri, { session: newSession() }), options)
    await expect(gone).rejects.toThrow('lease lost')
  })

  it('gives no credentials to another host', async () => {
    const uri = await site.add({ 'main.tf': 'x' }, { private: true })
    const trust = { allow_private_hosts: [site.host.host], ca_file: site.host.ca_file }
    const config = siteConfig(join(site.folder, 'uploads'), { ...trust, user: 'bot', token: TOKEN })
    const opening = openWorkspace(config, round(uri, { session: SESSION }), { log: silentLogger })
    await expect(opening).rejects.toMatchObject({ message: 'git clone failed' })
  })
})
