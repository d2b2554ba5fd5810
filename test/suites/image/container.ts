import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Workshop } from './tools.ts'

export interface ImageConfig {
  User: string
  Env: string[]
  Entrypoint: string[]
  Cmd?: string[]
  WorkingDir: string
  Labels: Record<string, string>
  Healthcheck: { Test: string[] }
}

/** An image whose files can be read. */
export interface OpenImage {
  name: string
  /** Folder of its file system. */
  root: string
  config: ImageConfig
  history: { created_by?: string; comment?: string }[]
  /** Digests of its layers, the lowest first. */
  layers: string[]
}

export async function openImage({ buildah }: Workshop, name: string): Promise<OpenImage> {
  const { Docker } = JSON.parse(await buildah(['inspect', '--type', 'image', name]))
  const container = await buildah(['from', '--pull-never', name])
  const root = await buildah(['mount', container])
  return { name, root, config: Docker.config, history: Docker.history, layers: Docker.rootfs.diff_ids }
}

export interface Mounts {
  /** Folders of this machine that the process reads at the same path. */
  read: readonly string[]
  /** Folders that it also writes. */
  write: readonly string[]
}

/**
 * What a container runtime does, without one: own mounts with a read-only root, the image's user without capabilities
 * and without a way to new ones. Network and process numbers are the machine's. Every step replaces the shell, so that
 * a signal reaches the process itself.
 */
const ENTER = `
root=$1 user=$2 group=$3 folder=$4 read=$5 write=$6
shift 6
mount --bind "$root" "$root"
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for path in $read $write; do mkdir -p "$root$path"; mount --bind "$path" "$root$path"; done
for path in $read; do case " $write " in *" $path "*) ;; *) mount -o remount,bind,ro "$root$path";; esac; done
mount -o remount,bind,ro "$root"
cd "$root"
pivot_root . .
umount -l .
cd "$folder"
exec setpriv --reuid="$user" --regid="$group" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"
`

/**
 * Returns the command that runs a process of an image; of the environment it gets the image's own variables and `env`.
 * @param args replaces the command of the image, and keeps its entry point
 * @param program runs another program of the image instead
 */
export async function inImage(
  image: OpenImage,
  {
    args,
    program,
    env,
    mounts = { read: [], write: [] },
  }: {
    args?: readonly string[]
    program?: readonly string[]
    env: Readonly<Record<string, string>>
    mounts?: Mounts
  },
): Promise<{ command: string; args: string[]; env: Record<string, string> }> {
  const { User, Env, Entrypoint, Cmd = [], WorkingDir } = image.config
  const [user = '', group = ''] = User.split(':')
  // Mount points outside of /tmp, which is empty in there, have to exist before the root becomes read-only.
  for (const path of [...mounts.read, ...mounts.write])
    if (!path.startsWith('/tmp/')) await mkdir(join(image.root, path), { recursive: true })
  const own = Object.fromEntries(
    Env.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
  const last = program ?? [...Entrypoint, ...(args ?? Cmd)]
  const [read, write] = [mounts.read.join(' '), mounts.write.join(' ')]
  return {
    command: 'unshare',
    args: [
      ...['--mount', '--propagation', 'private', 'sh', '-euc', ENTER, 'enter'],
      ...[image.root, user, group, WorkingDir || '/', read, write, ...last],
    ],
    env: { ...own, ...env },
  }
}
