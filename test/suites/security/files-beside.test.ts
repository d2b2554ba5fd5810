import { type FileHandle, mkdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, expect, vi } from 'vitest'
import { createFileAccess, type FileAccess } from '../../../pipeline/workspace/files/access.ts'
import { STATE_KEYS_FILE } from '../../../src/plan/state/managed-state.ts'
import { useFolder } from '../../helpers/folder.ts'
import { git_, siteConfig } from '../../pipeline/workspace/support.ts'
import { attack } from './attack.ts'

type Open = () => Promise<FileHandle>

/** Runs around every opening of a file. */
const opening = vi.hoisted((): { wrap: ((path: string, open: Open) => Promise<FileHandle>) | null } => ({ wrap: null }))

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const open: typeof real.open = (path, ...rest) => {
    const openReally = () => real.open(path, ...rest)
    return opening.wrap ? opening.wrap(String(path), openReally) : openReally()
  }
  return { ...real, open }
})

const GROUP = 'what a model reads beside its root'
const SECRET = 'marker-of-a-secret'

const folder = useFolder(beforeEach)
let clone: string
let access: FileAccess

beforeEach(async () => {
  clone = join(await realpath(folder.path), 'clone')
  await git_(['init', '--quiet', clone])
  await put('live/prod/main.tf', 'module "net" {\n  source = "../../modules/net"\n}\n')
  await put('modules/net/main.tf', 'locals {}\n')
  await writeFile(join(folder.path, 'secret.tf'), SECRET)
  const places = { iacRoot: join(clone, 'live/prod'), clone, gitDirectory: join(clone, '.git') }
  access = createFileAccess(siteConfig(folder.path), places)
})

async function put(path: string, content: string) {
  await mkdir(dirname(join(clone, path)), { recursive: true })
  await writeFile(join(clone, path), content)
}

async function link(path: string, target: string) {
  await mkdir(dirname(join(clone, path)), { recursive: true })
  await symlink(target, join(clone, path))
}

/** Expects that no tool shows the secret, by these paths or by looking around. */
async function stayClosed(...paths: string[]) {
  await git_(['-C', clone, 'add', '--force', '.'])
  for (const path of paths) {
    const answers = await Promise.allSettled([access.read(path), access.list(path)])
    for (const answer of answers) {
      if (answer.status === 'fulfilled') expect(answer.value).not.toContain(SECRET)
      else
        expect(String(answer.reason)).toMatch(/outside of the workspace|not accessible|does not exist|not a directory/)
      expect(String(answer.status === 'rejected' && answer.reason)).not.toContain(folder.path)
    }
    expect(answers[0].status, `${path} was read`).toBe('rejected')
  }
  const found = await access.grep({ query: 'marker-of', include_pattern: '**' })
  expect(found).toEqual([])
  const surveyed = (await access.survey()).files.map(({ path }) => path)
  for (const path of paths) expect(surveyed).not.toContain(path)
  expect((await access.readAll(surveyed)).values().toArray().join('\n')).not.toContain(SECRET)
}

attack(GROUP, 'a chain of links in root and modules that ends outside of the clone', async () => {
  await link('live/prod/one.tf', '../../modules/net/two.tf')
  await link('modules/net/two.tf', '../../common/three.tf')
  await link('common/three.tf', '../../secret.tf')
  await link('live/prod/up', '../../../')
  await link('modules/net/up', '../../..')
  await stayClosed('one.tf', '../../modules/net/two.tf', 'up/secret.tf', '../../modules/net/up/secret.tf')
  return 'the real target of every link is looked up, and has to lie inside of the clone'
})

attack(GROUP, 'code that calls modules and names files outside of the clone', async () => {
  const code = `module "up" {\n  source = "../../../"\n}\nlocals {\n  a = file("../../../secret.tf")\n  b = file("${join(folder.path, 'secret.tf')}")\n}\n`
  await put('live/prod/more.tf', code)
  await put('modules/net/more.tf', 'locals {\n  a = file("../../../secret.tf")\n}\n')
  await stayClosed('../../../secret.tf')
  await expect(access.read(join(folder.path, 'secret.tf'))).rejects.toThrow('is absolute')
  return 'a path that leaves the clone opens nothing'
})

attack(GROUP, "links and code that lead into git's directory", async () => {
  await put('.git/secret.tf', SECRET)
  await link('live/prod/git.tf', '../../.git/secret.tf')
  await link('modules/net/GIT', '../../.git')
  const named = `module "git" {\n  source = "../../.git"\n}\nlocals {\n  a = file("../../.git/secret.tf")\n}\n`
  await put('live/prod/more.tf', named)
  await stayClosed('git.tf', '../../modules/net/GIT/secret.tf', '../../.git/secret.tf', '../../.GIT/secret.tf')
  return "git's names are closed on both sides of a link, whatever code refers to"
})

attack(GROUP, 'links and code that lead to state, plans, overrides and keys', async () => {
  const closed = ['x.tfstate', 'session.plan', 'backend_override.tf', STATE_KEYS_FILE, 'server.key', 'id_rsa', '.env']
  for (const [index, name] of closed.entries()) {
    await put(`shared/${name}`, SECRET)
    await link(`live/prod/link${index}.tf`, `../../shared/${name}`)
    await put(`live/prod/use${index}.tf`, `locals {\n  a${index} = file("../../shared/${name}")\n}\n`)
  }
  await put('live/prod/all.tf', 'locals {\n  all = fileset("../../shared", "**")\n}\n')
  await put('shared/hidden-key.txt', `-----BEGIN RSA PRIVATE KEY-----\n${SECRET.replace('-of', '+of')}\n`)
  await stayClosed(...closed.flatMap((name, index) => [`../../shared/${name}`, `link${index}.tf`]))
  await expect(access.read('../../shared/hidden-key.txt')).rejects.toThrow('is not accessible')
  return 'the names of secrets are closed on both sides of a link, private keys by their text as well'
})

attack(GROUP, 'a link or a path in code that would open everything around the root', async () => {
  await put('live/dev/secret.tf', SECRET)
  await link('live/prod/around', '..')
  await link('live/prod/top', '../..')
  const named = `locals {\n  a = fileset("..", "**")\n  b = fileset("../..", "**/*.tf")\n  c = "../\${var.x}"\n}\n`
  await put('live/prod/more.tf', `${named}module "top" {\n  source = "../.."\n}\n`)
  await stayClosed('around/dev/secret.tf', 'top/live/dev/secret.tf', '../dev/secret.tf', '../../live/dev/secret.tf')
  return 'a folder around the root opens the files of a module in it, and never what is below'
})

for (const [title, swapsBack] of [
  ['a folder that becomes a link out of the clone between the check and the reading', false],
  ['the same, undone before anybody looks again', true],
] as const)
  attack(GROUP, title, async () => {
    const [net, aside, outside] = [join(clone, 'modules/net'), join(clone, 'modules/aside'), join(folder.path, 'out')]
    await mkdir(outside)
    await writeFile(join(outside, 'main.tf'), SECRET)
    let swaps = 0
    opening.wrap = async (path, open) => {
      // The first opening of the file is that of the search for what the root uses.
      if (path !== join(net, 'main.tf') || swaps++ !== 1) return await open()
      await rename(net, aside)
      await symlink(outside, net)
      const handle = await open()
      if (!swapsBack) return handle
      await rm(net)
      await rename(aside, net)
      return handle
    }
    const text = await access.read('../../modules/net/main.tf').catch((error: Error) => error.message)
    opening.wrap = null
    expect(swaps).toBe(2)
    expect(text).toBe("File '../../modules/net/main.tf' changed while it was read")
    return 'the opened file has to be the one that the resolved path names afterwards'
  })

attack(GROUP, 'writing to modules, named files and targets of links', async () => {
  await link('live/prod/linked.tf', '../../modules/net/main.tf')
  await link('live/prod/mods', '../../modules')
  const outside = ['../../modules/net/main.tf', 'linked.tf', 'mods/net/main.tf', 'mods/net/new.tf', '../../new.tf']
  for (const path of outside) {
    await expect(access.write(path, SECRET)).rejects.toThrow(/can be read but not changed|symbolic link/)
    await expect(access.replace(path, SECRET)).rejects.toThrow(/can be read but not changed|symbolic link/)
  }
  await expect(access.remove('mods/net/main.tf')).rejects.toThrow('can be read but not changed')
  expect(await readFile(join(clone, 'modules/net/main.tf'), 'utf8')).toBe('locals {}\n')
  return 'what is outside of the root is read-only, whatever path leads there'
})
