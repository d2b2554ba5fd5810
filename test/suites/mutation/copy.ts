import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** A folder with the files of a project as they stand, committed or not; mutants live and die in there. */
export interface Copy {
  root: string
  remove(): Promise<void>
}

/** Installed packages are linked, not copied. Errors: those of git and of the disk. */
export async function copyProject(root: string): Promise<Copy> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'mutation-')))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    for (const file of await filesOf(root)) {
      await mkdir(dirname(join(folder, file)), { recursive: true })
      await cp(join(root, file), join(folder, file), { verbatimSymlinks: true })
    }
    await symlink(await realpath(join(root, 'node_modules')), join(folder, 'node_modules'))
    return { root: folder, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function filesOf(root: string): Promise<string[]> {
  const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 })
  const list = async (...options: string[]) => {
    const { stdout } = await git('ls-files', '-z', ...options)
    return stdout.split('\0').filter(Boolean)
  }
  const deleted = new Set(await list('--deleted'))
  const all = await list('--cached', '--others', '--exclude-standard')
  // A folder of packages that is a link itself is a file to git.
  return all.filter((file) => !deleted.has(file) && file !== 'node_modules')
}
