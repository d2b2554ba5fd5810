import { execFile } from 'node:child_process'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const ROOT = join(import.meta.dirname, '../../..')

/** What the whole suite shares. */
export interface Workshop {
  /** Scratch folder of this run. */
  folder: string
  /** Runs buildah on the run's own store and returns what it prints. Errors: its last lines. */
  buildah(args: readonly string[]): Promise<string>
  /** Takes away containers and mounts; a store in the scratch folder too. */
  close(): Promise<void>
}

/** Opens a store of images in a folder of its own. Nothing of the machine's own store is read or changed. */
export async function openWorkshop(folder: string, images: string): Promise<Workshop> {
  const store = (driver: string) => [
    ...['--storage-driver', driver, '--root', join(images, 'store'), '--runroot', join(images, 'run')],
  ]
  const buildahWith =
    (driver: string) =>
    async (args: readonly string[]): Promise<string> => {
      try {
        const env = { ...process.env, BUILDAH_ISOLATION: 'chroot' }
        return (await run('buildah', [...store(driver), ...args], { cwd: ROOT, env, maxBuffer: 1e8 })).stdout.trim()
      } catch (error) {
        throw new Error(`buildah ${args[0]} failed:\n${lastLines(error)}`, { cause: error })
      }
    }
  // Copying whole trees, as vfs does, takes several times as long, but needs no mount of the kernel.
  const overlay = buildahWith('overlay')
  const hasOverlay = await overlay(['from', '--name', 'trial', 'scratch'])
    .then(() => overlay(['mount', 'trial']))
    .then(() => overlay(['rm', 'trial']))
    .then(
      () => true,
      () => false,
    )
  const buildah = hasOverlay ? overlay : buildahWith('vfs')
  const close = async () => {
    await buildah(['rm', '--all']).catch(() => {})
    if (images.startsWith(folder)) await buildah(['rmi', '--all', '--force']).catch(() => {})
  }
  return { folder, buildah, close }
}

function lastLines(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
  return text.trim().split('\n').slice(-25).join('\n')
}

/** Returns why the images cannot be built on this machine; null if they can. */
export async function missing(): Promise<string | null> {
  if (process.platform !== 'linux') return 'images are built on Linux alone'
  if (process.getuid?.() !== 0) return 'only root can make file systems with several users'
  const absent: string[] = []
  for (const program of ['buildah', 'debootstrap', 'setpriv', 'unshare'])
    if (!(await isOnPath(program))) absent.push(program)
  if (absent.length > 0) return `${absent.join(' and ')} cannot be found; bash .ci/install-images installs them`
  return null
}

export const isOnPath = async (program: string): Promise<boolean> => (await pathOf(program)) !== null

/** Finds a program; null if there is none. */
export async function pathOf(program: string): Promise<string | null> {
  for (const folder of [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin']) {
    const path = join(folder, program)
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path
  }
  return null
}

/** Reads a JSON file of the checkout. */
export const readJson = async (path: string) => JSON.parse(await readFile(join(ROOT, path), 'utf8'))
