import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeText } from '../../../pipeline/workspace/files/edit.ts'
import { createLocalGit } from '../../../pipeline/workspace/git/git.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { startSite } from './support.ts'

const site = startOnce(startSite)
const BRANCH = 'Platform/2026-01-31_235959-1a2b'
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d7a'.repeat(16)}\nsize 12345\n`
const WITH_LFS = { '.gitattributes': '*.zip filter=lfs diff=lfs merge=lfs -text\n', 'main.tf': '# code\n' }

/** Adds a submodule to the default branch, whose commit exists nowhere. */
function addSubmodule(uri: string, path: string): void {
  const lines = [
    'commit refs/heads/main\ncommitter a <a@example.org> 1 +0000\ndata 1\nx\nfrom refs/heads/main^0',
    `M 160000 ${'1'.repeat(40)} ${path}\n`,
  ]
  execFileSync('git', ['--git-dir', site.host.pathOf(uri), 'fast-import', '--quiet'], { input: lines.join('\n') })
}

describe('a submodule', () => {
  it('is not loaded, which is told, and stays on the branch as it is', async () => {
    const uri = await site.add({ 'main.tf': '# code\n' })
    addSubmodule(uri, 'modules/net')
    const workspace = await site.open(uri, { session: crypto.randomUUID() })
    expect(workspace.notes).toEqual([
      "Submodules are not loaded, so modules and files in them are missing: 'modules/net'.",
    ])
    await writeFile(join(workspace.iacRoot, 'main.tf'), '# changed\n')
    await workspace.commitAndPush()
    expect(await site.remote(uri, 'ls-tree', BRANCH, 'modules/net')).toMatch(/^160000 commit 1{40}/)
    expect(await site.remote(uri, 'diff', '--name-only', 'main', BRANCH)).toBe('main.tf')
  })

  it.each(['modules/net', 'modules/net/live/'])('holds no engine root: %s', async (root_path) => {
    const uri = await site.add({ 'main.tf': '# code\n' })
    addSubmodule(uri, 'modules/net')
    await expect(site.open(uri, { session: crypto.randomUUID(), root_path })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("'modules/net' is a submodule, and the platform does not load submodules"),
    })
  })
})

describe('a file in Git LFS', () => {
  it('is a pointer in the workspace, which is told, and no text takes its place', async () => {
    const files = { ...WITH_LFS, 'lambda.zip': POINTER, 'a.tfvars': POINTER, 'notes.md': 'about git-lfs\n' }
    const { workspace } = await site.start({}, files)
    expect(workspace.notes).toEqual([expect.stringMatching(/Git LFS are not loaded.*: 'a\.tfvars', 'lambda\.zip'\.$/)])
    const editor = {
      clone: workspace.clone,
      root: workspace.iacRoot,
      paths: site.config.paths,
      git: async () => ({ code: 1, stdout: '', stderr: '', stopped: null }),
    }
    await expect(writeText(editor as never, 'a.tfvars', 'a = 1\n')).rejects.toThrow('kept in Git LFS')
    expect(await readFile(join(workspace.iacRoot, 'a.tfvars'), 'utf8')).toBe(POINTER)
  })

  it('is not made anew, unless the attributes of its folder say otherwise', async () => {
    const attributes = '*.tfvars filter=lfs diff=lfs merge=lfs -text\n'
    const { workspace } = await site.start(
      {},
      { 'main.tf': '# code\n', '.gitattributes': attributes, 'live/.gitattributes': '*.tfvars -filter\n' },
    )
    const { clone, gitDirectory, iacRoot } = workspace
    const git = createLocalGit(site.config.git, { directory: gitDirectory, workTree: clone })
    const editor = { clone, root: iacRoot, paths: site.config.paths, git }
    await expect(writeText(editor as never, 'prod.tfvars', 'a = 1\n')).rejects.toThrow(
      "The repository keeps 'prod.tfvars' in Git LFS (.gitattributes), where the platform stores nothing",
    )
    expect(await writeText(editor as never, 'live/prod.tfvars', 'a = 1\n')).toBe(true)
    expect(await writeText(editor as never, 'new.tf', '# new\n')).toBe(true)
    expect((await workspace.pendingChanges()).map(({ path }) => path)).toEqual(['live/prod.tfvars', 'new.tf'])
  })

  it('is no code of the engine', async () => {
    const uri = await site.add({ ...WITH_LFS, 'live/main.tf': POINTER })
    await expect(site.open(uri, { session: crypto.randomUUID() })).rejects.toMatchObject({
      status: 400,
      message: "The code 'live/main.tf' is kept in Git LFS, which the platform does not load: keep code in git itself.",
    })
  })
})

it('says nothing of a repository without either', async () => {
  const { workspace } = await site.start({}, { 'main.tf': POINTER.replace('git-lfs', 'other') })
  expect(workspace.notes).toEqual([])
})
