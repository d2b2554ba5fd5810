import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, realpath, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/**
 * Copies the files of a project as they stand, committed or not, into a new folder; answers its path. Mutants live and
 * die in there. Installed packages are linked, not copied. The folder is removed when the process ends, however it
 * does short of being killed at once.
 * Errors: those of git and of the disk.
 */
export async function copyProject(root: string): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'mutation-')))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const file of await filesOf(root)) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await cp(join(root, file), join(folder, file), { verbatimSymlinks: true })
  }
  await symlink(await realpath(join(root, 'node_modules')), join(folder, 'node_modules'))
  return folder
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
