import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Tools, Unavailable } from '../part.ts'
import { output } from './command.ts'
import { withLock } from './lock.ts'

/**
 * Path of a program of a Debian package, unpacked into the cache so that nothing of the system changes; the one on PATH
 * where there is one.
 * @throws Unavailable where apt or the package is missing
 */
export async function debianProgram(
  name: string,
  deb: string,
  { cache, say }: Pick<Tools, 'cache' | 'say'>,
): Promise<string> {
  const found = await output('which', [name]).catch(() => '')
  if (found.trim()) return found.trim()
  const folder = join(cache, `debian-${deb}`)
  const program = join(folder, 'usr/bin', name)
  if (await stat(program).catch(() => null)) return program
  return withLock(cache, `debian-${deb}`, async () => {
    say(`unpacking Debian's ${deb}`)
    await output('mkdir', ['-p', folder])
    const download = () => output('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', 'download', deb], { cwd: folder })
    await download().catch(async () => {
      await output('apt-get', ['-qq', 'update'])
      await download()
    })
    for (const file of await readdir(folder))
      if (file.endsWith('.deb')) await output('dpkg-deb', ['-x', file, '.'], { cwd: folder })
    if (!(await stat(program).catch(() => null))) throw new Unavailable(`${deb} of Debian has no ${name}`)
    return program
  })
}
