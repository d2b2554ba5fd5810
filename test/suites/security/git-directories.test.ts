import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { writeOverride } from '../../../pipeline/workspace/backend-override.ts'
import type { Workspace } from '../../../pipeline/workspace/workspace.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { storageConfig } from '../../data/storage/config.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { git_, round, type Site, startSite } from '../../pipeline/workspace/support.ts'
import { attack } from './attack.ts'
import { gitDirectoryFiles, hostileConfiguration, plantRepository } from './hostile-git.ts'

const site: Site = startOnce(startSite)

const COMMITTED = 'a committed git directory'
const WRITTEN = "git's files written by the engine"

/** Path of the file that a program of a hostile repository creates, which none may do in any of these attacks. */
let mark = ''
beforeEach(() => {
  mark = join(site.folder, `ran-${crypto.randomUUID()}`)
})
afterEach(() => expect(existsSync(mark)).toBe(false))

const open = (uri: string, root_path: string | null = null) =>
  site.open(uri, { session: crypto.randomUUID(), root_path })

/** Runs every git operation of a round. */
async function useAll(workspace: Workspace): Promise<void> {
  await writeFile(join(workspace.iacRoot, 'new.tf'), `# ${crypto.randomUUID()}\n`)
  await workspace.revision()
  await workspace.pendingChanges()
  await workspace.branchDiff()
  const since = await workspace.head()
  const commit = await workspace.commitAndPush()
  await workspace.changedFiles(since)
  await workspace.restore(commit)
  await workspace.revision()
}

/** Checks that the trap works: plain git in a plain clone runs the program. */
async function assertTrapWorks(
  uri: string,
  within: string,
  prepare: (clone: string) => Promise<void> = async () => {},
) {
  const clone = join(site.folder, `plain-${crypto.randomUUID()}`)
  await git_(['clone', '--quiet', site.host.pathOf(uri), clone])
  await prepare(clone)
  await git_(['status'], join(clone, within)).catch(() => '')
  expect(existsSync(mark)).toBe(true)
  await rm(mark)
}

attack(COMMITTED, 'named as iac_path', async () => {
  const uri = await site.add({ 'main.tf': 'x', ...gitDirectoryFiles('live', mark), 'live/main.tf': 'x' })
  await assertTrapWorks(uri, 'live')
  const refusal = await open(uri, 'live').catch((error: Error) => error)
  expect(refusal).toMatchObject({ status: 400, message: expect.stringMatching(/^iac_path 'live' is not a directory/) })
  await expect(open(uri, 'live/refs')).rejects.toMatchObject({ status: 400 })
  return (refusal as Error).message
})

attack(COMMITTED, 'as the root of the repository', async () => {
  const uri = await site.add({ 'main.tf': 'x', ...gitDirectoryFiles('', mark), 'live/main.tf': 'x' })
  await assertTrapWorks(uri, '.', async (clone) => rm(join(clone, '.git'), { recursive: true }))
  const message = expect.stringContaining('itself a git directory')
  for (const root of [null, 'live']) await expect(open(uri, root)).rejects.toMatchObject({ status: 400, message })
  return "iac_path '' is not a directory inside the repository: it lies in a folder that is itself a git directory"
})

attack(COMMITTED, 'above, beside and below the engine root, also with its parts in another place', async () => {
  const { HEAD = '', config = '' } = gitDirectoryFiles('', mark)
  const uri = await site.add({
    'live/main.tf': 'x',
    ...gitDirectoryFiles('live/modules/evil', mark),
    ...gitDirectoryFiles('beside', mark),
    'split/HEAD': HEAD,
    'split/config': config,
    'split/commondir': '../beside\n',
    'linked/HEAD': HEAD,
    'linked/config': config,
    'linked/objects': { symlink: '../beside/objects' },
    'linked/refs': { symlink: '../beside/refs' },
  })
  await assertTrapWorks(uri, 'live/modules/evil')
  const workspace = await open(uri, 'live')
  const left = await readdir(workspace.clone, { recursive: true })
  expect(left.filter((path) => path.endsWith('HEAD') || path.endsWith('config'))).toEqual([])
  await useAll(workspace)
  expect(await site.remote(uri, 'diff', '--name-only', 'main', workspace.branch)).toBe('live/new.tf')
  return 'such folders are taken out of the work tree; the branch keeps them'
})

attack(WRITTEN, 'a .git folder and a .git file in the clone, with filters, hooks, monitor and pager', async () => {
  const uri = await site.add({ 'main.tf': 'x', 'live/main.tf': 'x', '.gitattributes': '* filter=evil diff=evil\n' })
  await assertTrapWorks(uri, '.', async (clone) => writeFile(join(clone, '.git', 'config'), hostileConfiguration(mark)))
  const workspace = await open(uri, 'live')
  expect(await readdir(workspace.clone)).not.toContain('.git')
  await plantRepository(workspace.clone, mark)
  await mkdir(join(workspace.clone, '.git', 'info'), { recursive: true })
  await writeFile(join(workspace.clone, '.git', 'info', 'attributes'), '* filter=evil diff=evil\n')
  await writeFile(join(workspace.iacRoot, '.git'), `gitdir: ${join(workspace.clone, '.git')}\n`)
  await rm(mark, { force: true })
  await useAll(workspace)
  expect(await site.remote(uri, 'diff', '--name-only', 'main', workspace.branch)).toBe('inside.tf\nlive/new.tf')
  return "every call of git names a directory of the worker's own; nothing below the clone is looked at"
})

attack(WRITTEN, 'a repository in the place of a submodule', async () => {
  const uri = await site.add({ 'main.tf': 'x' })
  await site.remote(uri, 'read-tree', 'main')
  await site.remote(uri, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`)
  const tree = await site.remote(uri, 'write-tree')
  const commit = await site.remote(uri, 'commit-tree', tree, '-p', 'main', '-m', 'submodule')
  await site.remote(uri, 'update-ref', 'refs/heads/main', commit)
  await assertTrapWorks(uri, '.', (clone) => plantRepository(join(clone, 'sub'), mark))
  const workspace = await open(uri)
  await plantRepository(join(workspace.clone, 'sub'), mark)
  await useAll(workspace)
  expect(await site.remote(uri, 'diff', '--name-only', 'main', workspace.branch)).toBe('new.tf')
  return "submodules are marked as not present in git's index, so git does not look into them"
})

attack(WRITTEN, 'a folder that becomes a repository, so that its files leave the review', async () => {
  const { uri, workspace } = await site.start()
  await plantRepository(join(workspace.clone, 'network'), mark)
  const refusal = await workspace.commitAndPush().catch((error: Error) => error)
  expect(refusal).toMatchObject({ status: 500, message: expect.stringContaining("'network/'") })
  await workspace.revision()
  await workspace.branchDiff()
  expect(await site.remote(uri, 'rev-parse', workspace.branch)).toBe(await site.remote(uri, 'rev-parse', 'main'))
  return (refusal as Error).message
})

attack(WRITTEN, "git's own directory of a clone, from the folder that engine and sidecar mount", async () => {
  const { workspace } = await site.start()
  expect(workspace.gitDirectory.startsWith(`${site.config.paths.upload_folder}/`)).toBe(false)
  expect((await stat(join(workspace.gitDirectory, '..'))).mode & 0o777).toBe(0o700)
  await writeFile(join(workspace.clone, 'session.plan'), 'plan')
  await workspace.keep()
  expect(existsSync(workspace.gitDirectory)).toBe(false)
  const saved = await readdir(join(workspace.clone, '..', 'saved-plan'))
  expect(saved.sort()).toEqual(['.platform-workspace', 'main.tf', 'session.plan'])
  return 'it lies in a folder of mode 0700 outside of the upload folder, and is removed when the plan is saved'
})

attack(WRITTEN, 'a folder of the git directories that belongs to others', async () => {
  const uri = await site.add({ 'main.tf': 'x' })
  const session = crypto.randomUUID()
  const planted = join(site.config.paths.git_folder, session)
  await mkdir(planted, { recursive: true })
  await chmod(planted, 0o777)
  await expect(site.open(uri, { session })).resolves.toMatchObject({ branch: expect.any(String) })
  expect((await stat(planted)).mode & 0o777).toBe(0o700)
  return 'what was there is removed, and the folder is made anew for the worker alone'
})

attack(WRITTEN, 'plan and state put into the index behind the exclusions', async () => {
  const { uri, workspace } = await site.start()
  await mkdir(join(workspace.clone, 'deep', '.terraform'), { recursive: true })
  await writeFile(join(workspace.clone, 'deep', '.terraform', 'Secret'), 'secret')
  const place = ['--git-dir', workspace.gitDirectory, '--work-tree', workspace.clone]
  await git_([...place, 'update-index', '--add', 'deep/.terraform/Secret'], workspace.clone)
  const refusal = await workspace.commitAndPush().catch((error: Error) => error)
  expect(refusal).toMatchObject({ status: 500, message: expect.stringContaining('deep/.terraform/Secret') })
  expect(await site.remote(uri, 'rev-parse', workspace.branch)).toBe(await site.remote(uri, 'rev-parse', 'main'))
  return (refusal as Error).message
})

attack(WRITTEN, 'a link in the place of the engine root, so that files are read and written elsewhere', async () => {
  const uri = await site.add({ 'live/main.tf': 'x' })
  const workspace = await open(uri, 'live')
  const elsewhere = join(site.folder, 'elsewhere')
  await mkdir(elsewhere)
  await rm(workspace.iacRoot, { recursive: true })
  await symlink(elsewhere, workspace.iacRoot)
  const config = { ...site.config, storage: storageConfig({ provider: 'S3' }) }
  const writing = writeOverride(config, round(uri).session, workspace.iacRoot, silentLogger)
  await expect(writing).rejects.toMatchObject({
    message: 'Error Engine backend override render.',
    cause: { message: 'a link has taken the place of the engine root' },
  })
  expect(await readdir(elsewhere)).toEqual([])
  await writeFile(join(elsewhere, 'environ'), 'of the worker')
  await writeFile(join(workspace.clone, 'environ'), '')
  expect(JSON.stringify(await workspace.pendingChanges())).not.toContain('of the worker')
  expect(JSON.stringify(await workspace.branchDiff())).not.toContain('of the worker')
  return 'nothing is read or written where the engine root was not at the checkout'
})

attack(WRITTEN, 'attributes of the repository that hide a change from its diff', async () => {
  const { workspace } = await site.start({}, { 'main.tf': 'one\n', '.gitattributes': '*.tf binary -diff\n' })
  await writeFile(join(workspace.clone, 'main.tf'), 'two\n')
  expect(JSON.stringify(await workspace.branchDiff())).toContain('+two')
  expect(JSON.stringify(await workspace.pendingChanges())).toContain('+two')
  expect(await readFile(join(workspace.clone, '.gitattributes'), 'utf8')).toContain('binary')
  return "rules in git's own directory take effect from every attribute of a repository"
})
