import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { git_, startSite } from './support.ts'

const site = startOnce(startSite)
const newSession = () => crypto.randomUUID()
const newBranch = () => `Platform/2026-01-31_235959-${crypto.randomUUID().slice(0, 4)}`
const mirrors = () => join(site.config.paths.git_folder, 'mirrors')

/** Adds a commit to a branch of a repository of the host; returns its id. */
async function commit(uri: string, files: Record<string, string>, branch = 'main'): Promise<string> {
  const folder = join(site.folder, `work-${newSession()}`)
  await git_(['clone', '--quiet', '--branch', branch, site.host.pathOf(uri), folder])
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text)
  await git_(['add', '.'], folder)
  await git_(['commit', '--quiet', '-m', 'more'], folder)
  await git_(['push', '--quiet', 'origin', `HEAD:${branch}`], folder)
  return await git_(['rev-parse', 'HEAD'], folder)
}

/** Opens a repository in a session of its own, and lists the packs of the clone. */
async function open(uri: string, changes: Parameters<typeof site.open>[1] = {}) {
  const workspace = await site.open(uri, { session: newSession(), branch: newBranch(), ...changes })
  const packs = await readdir(join(workspace.gitDirectory, 'objects', 'pack'))
  return { workspace, packs: packs.filter((name) => name.endsWith('.pack')) }
}

/** The generations of the mirrors, newest last. */
async function generations(): Promise<string[]> {
  const folders = await readdir(mirrors()).catch(() => [])
  return (await Promise.all(folders.map((name) => readdir(join(mirrors(), name))))).flat().sort()
}

describe('a later round with the same repository', () => {
  it('fetches nothing while the default branch stands still', async () => {
    const { uri, workspace } = await site.start({}, { 'main.tf': 'one', 'a/b.tf': 'two' })
    await workspace.dispose()
    const second = await open(uri)
    expect(second.packs).toHaveLength(1)
    expect(await readFile(join(second.workspace.iacRoot, 'a/b.tf'), 'utf8')).toBe('two')
    expect(await second.workspace.head()).toBe(await site.remote(uri, 'rev-parse', 'main'))
    expect(second.workspace.defaultBranch).toBe('main')
  })

  it('fetches only what is new', async () => {
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}.tf`, `text ${at}`.repeat(40)]))
    const { uri } = await site.start({}, files)
    const head = await commit(uri, { 'new.tf': 'new' })
    const { workspace, packs } = await open(uri)
    expect(await workspace.head()).toBe(head)
    expect(await readFile(join(workspace.iacRoot, 'new.tf'), 'utf8')).toBe('new')
    expect(await readFile(join(workspace.iacRoot, 'f7.tf'), 'utf8')).toBe(files['f7.tf'])
    expect(packs).toHaveLength(2)
    const counts = await Promise.all(packs.map((name) => countObjects(workspace.gitDirectory, name)))
    // A commit, a folder and a file, and the old folder, of which the new one was sent as a difference.
    expect(Math.min(...counts)).toBeLessThanOrEqual(4)
    expect((await open(uri)).packs).toHaveLength(2)
  })

  it('finds the merge base and the difference of a session whose default branch moved on', async () => {
    const session = newSession()
    const { uri, workspace } = await site.start({ session }, { 'main.tf': 'a' })
    const base = await workspace.head()
    await writeFile(join(workspace.iacRoot, 'session.tf'), 'mine')
    await workspace.commitAndPush()
    await workspace.dispose()
    for (const text of ['b', 'c']) {
      await commit(uri, { 'other.tf': text })
      await (await open(uri)).workspace.dispose()
    }
    const next = await site.open(uri, { session, number: 2, base_commit: await site.remote(uri, 'rev-parse', 'main') })
    expect(await next.baseCommit()).toBe(base)
    expect((await next.branchDiff()).map(({ path }) => path)).toEqual(['session.tf'])
  })

  it('follows a default branch that is renamed, rewritten or deleted', async () => {
    const { uri } = await site.start({}, { 'main.tf': 'a' })
    await site.remote(uri, 'branch', '-m', 'main', 'trunk')
    await site.remote(uri, 'symbolic-ref', 'HEAD', 'refs/heads/trunk')
    const { workspace } = await open(uri)
    expect(workspace.defaultBranch).toBe('trunk')
    const tree = await site.remote(uri, 'rev-parse', 'trunk^{tree}')
    const rewritten = await site.remote(uri, 'commit-tree', '-m', 'again', tree)
    await site.remote(uri, 'update-ref', 'refs/heads/trunk', rewritten)
    const after = await open(uri)
    expect(await after.workspace.head()).toBe(rewritten)
    await site.remote(uri, 'update-ref', '-d', 'refs/heads/trunk')
    await expect(open(uri)).rejects.toMatchObject({ status: 400 })
  })
})

describe('a mirror', () => {
  it('that is damaged is replaced by a whole clone', async () => {
    const { uri, workspace } = await site.start({}, { 'main.tf': 'a' })
    await workspace.dispose()
    for (const folder of await readdir(mirrors()))
      for (const name of await readdir(join(mirrors(), folder)))
        await writeFile(join(mirrors(), folder, name, 'facts.json'), '{')
    const next = await open(uri)
    expect(await readFile(join(next.workspace.iacRoot, 'main.tf'), 'utf8')).toBe('a')
    expect(site.lines.some((line) => line.includes('the mirror of a repository is not used'))).toBe(true)
  })

  it('may vanish while a run uses it', async () => {
    const { uri, workspace } = await site.start({}, { 'main.tf': 'a' })
    await workspace.dispose()
    const next = await open(uri)
    await rm(mirrors(), { recursive: true, force: true })
    await writeFile(join(next.workspace.iacRoot, 'main.tf'), 'b')
    expect(await next.workspace.commitAndPush()).toBe(await next.workspace.head())
  })

  it('is not shown to an account whose access has ended', async () => {
    const { uri, workspace } = await site.start({}, { 'main.tf': 'a' }, { private: true })
    await workspace.dispose()
    const { token } = site.config.git
    site.config.git.token = 'another'
    await expect(open(uri)).rejects.toMatchObject({ message: 'git clone failed' })
    site.config.git.token = token
  })

  it('is not kept when the operator wants none', async () => {
    const none = await startSite({ mirror_mib: 0 })
    await none.start()
    expect(await readdir(join(none.config.paths.git_folder))).not.toContain('mirrors')
    await none.close()
  })

  it('that a worker did not finish before it died is removed an hour later', async () => {
    const { uri, workspace } = await site.start({}, { 'main.tf': 'a' })
    await workspace.dispose()
    const anHourAgo = new Date(Date.now() - 3_700_000)
    for (const folder of await readdir(mirrors())) {
      await mkdir(join(mirrors(), folder, '.new-old'))
      await utimes(join(mirrors(), folder, '.new-old'), anHourAgo, anHourAgo)
      await mkdir(join(mirrors(), folder, '.new-young'))
    }
    await commit(uri, { 'main.tf': 'b' })
    await (await open(uri)).workspace.dispose()
    const names = await generations()
    const folders = (await readdir(mirrors())).length
    expect(names.filter((name) => name === '.new-old')).toHaveLength(folders - 1)
    expect(names.filter((name) => name === '.new-young')).toHaveLength(folders)
    for (const folder of await readdir(mirrors()))
      for (const name of ['.new-old', '.new-young'])
        await rm(join(mirrors(), folder, name), { recursive: true, force: true })
  })

  it('that was used longest ago leaves when all are over the limit', async () => {
    const small = await startSite({ mirror_mib: 1 })
    const large = Array.from({ length: 12_000 }, () => crypto.randomUUID()).join('\n')
    const uris: string[] = []
    for (let index = 0; index < 5; index++) {
      const { uri, workspace } = await small.start({}, { 'main.tf': `${index}\n${large.slice(index * 1000)}` })
      await workspace.dispose()
      uris.push(uri)
    }
    const kept = await readdir(join(small.config.paths.git_folder, 'mirrors'))
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThan(uris.length)
    const again = await small.open(uris[0] ?? '', { session: newSession() })
    expect(await again.head()).toBe(await small.remote(uris[0] ?? '', 'rev-parse', 'main'))
    await small.close()
  })

  it('serves runs that open and renew it at the same time', async () => {
    const { uri, workspace } = await site.start({}, { 'main.tf': 'a' })
    await workspace.dispose()
    const head = await commit(uri, { 'main.tf': 'b' })
    const opened = await Promise.all([1, 2, 3, 4].map(() => open(uri)))
    for (const { workspace } of opened) expect(await workspace.head()).toBe(head)
    expect((await generations()).every((name) => !name.startsWith('.new-'))).toBe(true)
  })
})

async function countObjects(directory: string, pack: string): Promise<number> {
  const listed = await git_(['verify-pack', '-v', join(directory, 'objects', 'pack', pack.replace(/pack$/, 'idx'))])
  return listed.split('\n').filter((line) => /^[0-9a-f]{40} (commit|tree|blob)/.test(line)).length
}
