import { chmod, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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

async function firstOf(paths: string[]): Promise<string | null> {
  for (const path of paths) if (await stat(path).catch(() => null)) return path
  return null
}
