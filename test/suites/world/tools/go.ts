import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Tools } from '../part.ts'
import { output } from './command.ts'
import { withLock } from './lock.ts'

/** A version of a module. */
export interface GoModule {
  module: string
  version: string
  /** Its hash as in `go.sum`, for a module that the public list of checksums may not have. */
  sum?: { zip: string; mod: string }
}

/** A program that is built from source with Go. */
export interface GoProgram {
  name: string
  /** For the name of its folder, and as the table tells it. */
  version: string
  /**
   * The source: a version of a module, by the proxy and its checksum, or a module of our own, whose
   * files are written in place: text by path.
   */
  source: GoModule | { files(): Promise<Record<string, string>> }
  /** Package below the source, for example `./cmd/tofu`. */
  package: string
  ldflags?: string
  env?: Record<string, string>
  minutes?: number
  /** Flags of the compiler for all packages, for example `-N -l`. */
  gcflags?: string
  /** Changes the source before it is built. */
  prepare?(source: string): Promise<unknown>
}

/**
 * The files of a module of our own that lie in a folder. Its `mark` changes with them, for the version of the program,
 * so that a changed program is built again.
 */
export async function readModule(
  folder: string,
): Promise<{ files: () => Promise<Record<string, string>>; mark: string }> {
  const names = (await readdir(folder)).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  const files = Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']))
  const mark = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 12)
  return { files: async () => files, mark }
}

/**
 * Path of the program in the cache, built when it is not there yet. One build at a time runs on a machine, because each
 * takes all of its cores and much of its memory.
 * @throws Unavailable without Go, without the source, or when it does not build
 */
export async function buildGo(
  program: GoProgram,
  { cache, minutesLeft, say }: Pick<Tools, 'cache' | 'minutesLeft' | 'say'>,
): Promise<string> {
  const built = join(cache, `${program.name}-${program.version}`, program.name)
  const isThere = () => stat(built).catch(() => null)
  if (await isThere()) return built
  return withLock(cache, 'go', async () => {
    if (await isThere()) return built
    say(`building ${program.name} ${program.version} with Go`)
    const folder = await mkdtemp(join(cache, '.build-'))
    try {
      const source = join(folder, 'source')
      await bring(program, source)
      await program.prepare?.(source)
      await mkdir(dirname(built), { recursive: true })
      const made = join(folder, basename(built))
      const flags = ['-mod=mod', '-trimpath', '-buildvcs=false', '-ldflags', `-s -w ${program.ldflags ?? ''}`]
      if (program.gcflags) flags.push(`-gcflags=all=${program.gcflags}`)
      await output('go', ['build', ...flags, '-o', made, program.package], {
        cwd: source,
        env: { CGO_ENABLED: '0', GOTOOLCHAIN: 'auto', ...program.env },
        minutes: Math.min(program.minutes ?? 30, minutesLeft()),
      })
      await rename(made, built)
      return built
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}

/** A writable copy of the source. */
async function bring({ source }: GoProgram, folder: string): Promise<void> {
  if ('module' in source) {
    // Outside of any module but one that holds the checksum, so that the version is the one that is named.
    const cwd = source.sum ? await moduleWithSum(source, `${folder}-sum`) : '/'
    const told = await output('go', ['mod', 'download', '-json', `${source.module}@${source.version}`], { cwd })
    const { Dir } = JSON.parse(told) as { Dir: string }
    await cp(Dir, folder, { recursive: true })
    await output('chmod', ['-R', 'u+w', folder])
    return
  }
  for (const [path, text] of Object.entries(await source.files())) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

async function moduleWithSum({ module, version, sum }: GoModule, folder: string): Promise<string> {
  await mkdir(folder)
  await writeFile(join(folder, 'go.mod'), 'module sum\n\ngo 1.21\n')
  await writeFile(join(folder, 'go.sum'), `${module} ${version} ${sum?.zip}\n${module} ${version}/go.mod ${sum?.mod}\n`)
  return folder
}
