import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFileAccess } from '../../../pipeline/workspace/files/access.ts'
import type { Workspace } from '../../../pipeline/workspace/workspace.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { git_, startSite } from './support.ts'

const site = startOnce(startSite)

const ROOT = 'stacks/shop'

/** A root that uses modules, a named file and links outside of it, beside others that it does not use. */
const FILES = {
  'stacks/shop/main.tf': [
    'module "net" {\n  source = "../../modules/net"\n}\n',
    'module "up" {\n  source = "../"\n}\n',
    'module "linked" {\n  source = "./linked"\n}\n',
    'locals {\n  text = file("$' + '{path.module}/../../shared/text.txt")\n}\n',
  ].join('\n'),
  'stacks/shop/below/deep/note.tf': '# note\n',
  'stacks/shop/common.tf': { symlink: '../../common/common.tf' },
  'stacks/shop/linked': { symlink: '../../by-link/inner' },
  'stacks/shared.tf': '# beside the roots\n',
  'stacks/other/main.tf': '# another root\n',
  'modules/net/main.tf': 'module "base" {\n  source = "../base"\n}\n',
  'modules/net/files/rules.json': '{}\n',
  'modules/base/main.tf': '# base\n',
  'modules/unused/main.tf': '# unused\n',
  'common/common.tf': 'module "far" {\n  source = "../../far"\n}\n',
  'far/main.tf': '# far\n',
  'by-link': { symlink: 'real/folder' },
  'real/folder/inner/main.tf': '# real\n',
  'real/other.tf': '# other\n',
  'shared/text.txt': 'text\n',
  '.gitignore': '*.log\n',
  'README.md': '# All\n',
}
const USED = [
  ...['.gitignore', '.platform-workspace', 'by-link', 'common/common.tf', 'far/main.tf', 'modules/base/main.tf'],
  ...['modules/net/files/rules.json', 'modules/net/main.tf', 'real/folder/inner/main.tf', 'shared/text.txt'],
  ...['stacks/shared.tf', 'stacks/shop/below/deep/note.tf', 'stacks/shop/common.tf', 'stacks/shop/linked'],
  'stacks/shop/main.tf',
]

/** Lists the files and links of a clone. */
async function filesOf({ clone }: Workspace): Promise<string[]> {
  const entries = await readdir(clone, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(clone.length + 1))
    .sort()
}

/** What the tools of a model see of a workspace. */
async function lookAt(workspace: Workspace) {
  const access = createFileAccess(site.config, workspace)
  const folders = ['.', '..', '../../modules/net', 'linked', '../../modules', '../other']
  const files = ['main.tf', 'common.tf', '../../shared/text.txt', '../../modules/base/main.tf', '../other/main.tf']
  const textOf = (error: unknown) => String(error)
  return {
    survey: await access.survey(),
    found: await access.grep({ query: '#|source' }),
    lists: await Promise.all(folders.map((path) => access.list(path).catch(textOf))),
    texts: await Promise.all(files.map((path) => access.read(path).catch(textOf))),
  }
}

const begin = (uri: string, root_path: string | null = ROOT) =>
  site.begin(uri, { session: crypto.randomUUID(), root_path })

describe('a workspace that was opened', () => {
  it('holds what its root uses, and all files once it is complete', async () => {
    const workspace = await begin(await site.add(FILES))
    expect(await filesOf(workspace)).toEqual(USED.toSorted())
    await workspace.complete()
    expect(await filesOf(workspace)).toEqual([...Object.keys(FILES), '.platform-workspace'].sort())
  })

  it('shows a model the same before and after', async () => {
    const workspace = await begin(await site.add(FILES))
    const before = await lookAt(workspace)
    expect(before.survey.elsewhere).toEqual({ files: 7, code: 3 })
    expect(before.lists[4]).toContain('outside of the workspace')
    expect(before.found).toContain('../../modules/base/main.tf:1:# base')
    await workspace.complete()
    expect(await lookAt(workspace)).toEqual(before)
  })

  it('keeps what was changed before it is complete, and nothing else is a change', async () => {
    const uri = await site.add(FILES)
    const workspace = await begin(uri)
    await writeFile(join(workspace.iacRoot, 'main.tf'), '# changed\n')
    await writeFile(join(workspace.iacRoot, 'new.tf'), '# new\n')
    const changes = await workspace.pendingChanges()
    expect(changes.map(({ path }) => path).sort()).toEqual(['main.tf', 'new.tf'])
    expect(existsSync(join(workspace.clone, 'stacks/other/main.tf'))).toBe(true)
    await workspace.commitAndPush()
    expect(await site.remote(uri, 'diff', '--name-only', 'main', workspace.branch)).toBe(
      'stacks/shop/main.tf\nstacks/shop/new.tf',
    )
  })

  it('knows of every file that it is unchanged', async () => {
    const workspace = await begin(await site.add(FILES))
    await workspace.complete()
    const place = ['--git-dir', workspace.gitDirectory, '--work-tree', workspace.clone]
    // Without a refresh, git would list what it has no times of.
    expect(await git_([...place, 'diff-files', '--name-only'], workspace.clone)).toBe('')
  })

  it('is whole at once when everything lies below its root', async () => {
    const workspace = await begin(await site.add(FILES), null)
    expect((await filesOf(workspace)).length).toBe(Object.keys(FILES).length + 1)
    expect(await workspace.pendingChanges()).toEqual([])
  })

  it('leaves nothing when it ends before it is complete', async () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`other/f${at}.tf`, `# ${at}\n`]))
    const workspace = await begin(await site.add({ ...FILES, ...many }))
    const ended = workspace.complete().catch(() => 'stopped')
    await workspace.dispose()
    await ended
    expect(existsSync(workspace.clone)).toBe(false)
    expect(existsSync(workspace.gitDirectory)).toBe(false)
  })
})

describe('what must not reach the engine', () => {
  it('is never written, wherever it lies, and stays on the branch', async () => {
    const hostile = {
      'stacks/shop/.terraform/plugin': 'plugin',
      'elsewhere/terraform.d/plugin': 'plugin',
      'elsewhere/out': { symlink: '../../../etc' },
      'elsewhere/absolute': { symlink: '/etc/passwd' },
      // Its text stays inside, but the folder behind the other link is one level higher.
      'stacks/shop/escape': { symlink: '../../elsewhere/up/../../hidden' },
      'elsewhere/up': { symlink: '../real' },
      'elsewhere/fine': { symlink: 'up/folder' },
    }
    const uri = await site.add({ ...FILES, ...hostile })
    const workspace = await begin(uri)
    const isUnsafe = (path: string) => /plugin|out$|absolute|escape/.test(path)
    expect((await filesOf(workspace)).filter(isUnsafe)).toEqual([])
    await workspace.complete()
    const files = await filesOf(workspace)
    expect(files.filter(isUnsafe)).toEqual([])
    expect(files).toContain('elsewhere/fine')
    expect(await workspace.pendingChanges()).toEqual([])
    await writeFile(join(workspace.iacRoot, 'main.tf'), '# changed\n')
    await workspace.commitAndPush()
    expect(await site.remote(uri, 'diff', '--name-only', 'main', workspace.branch)).toBe('stacks/shop/main.tf')
  })

  it('is told by where a link leads through others, not by its text', async () => {
    const links = {
      'live/main.tf': '# root\n',
      'live/inside': { symlink: '../a/b/../../kept.txt' },
      'a/b': { symlink: '../deep/folder' },
      'deep/folder/file.txt': 'x',
      'kept.txt': 'kept\n',
    }
    const workspace = await begin(await site.add(links), 'live')
    // Two folders above `deep/folder` is the clone itself.
    expect(await readFile(join(workspace.iacRoot, 'inside'), 'utf8')).toBe('kept\n')
  })
})
