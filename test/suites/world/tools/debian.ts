import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Tools, Unavailable } from '../part.ts'
import { output } from './command.ts'
import { withLock } from './lock.ts'

/**
 * Path of a program of a Debian package, unpacked into the cache so that nothing of the system changes; the one on PATH
 * where there is one.
 * @param deb the package, then those of the libraries that the machine may lack
 * @throws Unavailable where apt or the package is missing
 */
export async function debianProgram(
  name: string,
  deb: string | readonly [string, ...string[]],
  { cache, say }: Pick<Tools, 'cache' | 'say'>,
): Promise<string> {
  const found = await output('which', [name]).catch(() => '')
  if (found.trim()) return found.trim()
  const packages = typeof deb === 'string' ? [deb] : [...deb]
  const mark = `debian-${packages[0]}`
  const folder = join(cache, mark)
  const started = join(folder, name)
  if (await stat(started).catch(() => null)) return started
  return withLock(cache, mark, async () => {
    if (await stat(started).catch(() => null)) return started
    say(`unpacking Debian's ${packages.join(', ')}`)
    await output('mkdir', ['-p', folder])
    const download = () =>
      output('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', 'download', ...packages], { cwd: folder })
    await download().catch(async () => {
      await output('apt-get', ['-qq', 'update'])
      await download()
    })
    for (const file of await readdir(folder))
      if (file.endsWith('.deb')) await output('dpkg-deb', ['-x', file, '.'], { cwd: folder })
    const program = await firstOf(['usr/bin', 'usr/sbin'].map((place) => join(folder, place, name)))
    if (!program) throw new Unavailable(`${packages[0]} of Debian has no ${name}`)
    const libraries = (
      await output('find', [join(folder, 'usr/lib'), '-name', '*.so*', '-printf', '%h\n']).catch(() => '')
    )
      .split('\n')
      .filter(Boolean)
    const path = [...new Set(libraries)].join(':')
    await writeFile(started, `#!/bin/sh\nLD_LIBRARY_PATH='${path}' exec '${program}' "$@"\n`)
    await chmod(started, 0o755)
    return started
  })
}

/**
 * Command of a program of another release of Debian, with the libraries that it needs, also its own C library, unpacked
 * into the cache.
 * @param packages the one of the program first
 * @throws Unavailable where the machine has no apt, or the release no such package
 */
export async function foreignProgram(
  { release, program, packages }: { release: string; program: string; packages: readonly string[] },
  { cache, say }: Pick<Tools, 'cache' | 'say'>,
): Promise<string[]> {
  const folder = join(cache, `debian-${release}-${packages[0]}`)
  const command = async () => {
    await stat(join(folder, 'complete'))
    const loaders = await output('find', [folder, '-type', 'f', '-name', 'ld-linux-*.so.*'])
    const loader = loaders.split('\n')[0] ?? ''
    // Older releases have two folders of libraries, named after the machine.
    const libraries = ['lib', 'usr/lib'].map((lib) => join(folder, lib, basename(dirname(loader)))).join(':')
    return [loader, '--library-path', libraries, join(folder, program)]
  }
  const found = await command().catch(() => null)
  if (found) return found
  return withLock(cache, `debian-${release}-${packages[0]}`, async () => {
    say(`unpacking ${packages[0]} of Debian ${release}`)
    const lists = join(folder, 'lists')
    await mkdir(join(lists, 'partial'), { recursive: true })
    const keys = '/usr/share/keyrings/debian-archive-keyring.gpg'
    const places = await output('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'])
    const archive = places.split('\n').find((place) => /\/debian\/?$/.test(place))
    if (!archive) throw new Unavailable('apt has no source of Debian itself')
    await writeFile(join(folder, 'sources.list'), `deb [signed-by=${keys}] ${archive} ${release} main\n`)
    const settings = {
      'Dir::Etc::sourcelist': join(folder, 'sources.list'),
      'Dir::Etc::sourceparts': '/dev/null',
      'Dir::State::lists': lists,
      'Dir::Cache': join(folder, 'cache'),
      'APT::Sandbox::User': 'root',
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
    const apt = (...args: string[]) => output('apt-get', [...flags, '-qq', ...args], { cwd: folder })
    await apt('update')
    await apt('download', ...packages)
    for (const file of await readdir(folder))
      if (file.endsWith('.deb')) await output('dpkg-deb', ['-x', file, '.'], { cwd: folder })
    await writeFile(join(folder, 'complete'), '')
    return command()
  })
}

async function firstOf(paths: string[]): Promise<string | null> {
  for (const path of paths) if (await stat(path).catch(() => null)) return path
  return null
}
