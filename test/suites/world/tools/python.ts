import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tools } from '../part.ts'
import { output } from './command.ts'
import { withLock } from './lock.ts'

/**
 * Folder of the programs of a Python environment in the cache that has these pinned packages (`moto[server]==5.1.0`),
 * made when it is not there yet.
 * @param name of the environment, with what its packages' versions make of it: `moto-5.1.0`
 * @throws Unavailable without Python or when the packages cannot be had
 */
export async function installPython(
  name: string,
  packages: string[],
  { cache, minutesLeft, say }: Pick<Tools, 'cache' | 'minutesLeft' | 'say'>,
): Promise<string> {
  const folder = join(cache, name)
  const done = join(folder, 'packages-installed')
  const isThere = () =>
    access(done).then(
      () => true,
      () => false,
    )
  if (await isThere()) return join(folder, 'bin')
  return withLock(cache, `python-${name}`, async () => {
    if (await isThere()) return join(folder, 'bin')
    say(`installing ${packages.join(', ')} with pip`)
    await output('python3', ['-m', 'venv', '--clear', folder])
    const flags = ['--quiet', '--disable-pip-version-check', '--no-input']
    await output(join(folder, 'bin/python'), ['-m', 'pip', 'install', ...flags, ...packages], {
      minutes: Math.min(15, minutesLeft()),
    })
    await output('touch', [done])
    return join(folder, 'bin')
  })
}
