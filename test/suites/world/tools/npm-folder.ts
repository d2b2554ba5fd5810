import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tools } from '../part.ts'
import { output } from './command.ts'
import { withLock } from './lock.ts'

/**
 * Folder in the cache that has the packages of a lock file, installed when it is not there yet. No package runs a
 * script.
 * @param name of the folder, before what the lock file makes of it
 * @param from the folder with `package.json` and `package-lock.json`
 * @throws Unavailable when the packages cannot be had
 */
export async function installPackages(
  name: string,
  from: string,
  { cache, say }: Pick<Tools, 'cache' | 'say'>,
): Promise<{ folder: string; versions: Record<string, string> }> {
  const lock = await readFile(join(from, 'package-lock.json'))
  const folder = join(cache, `${name}-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`)
  // npm writes this file last.
  const isThere = () =>
    stat(join(folder, 'node_modules/.package-lock.json')).then(
      () => true,
      () => false,
    )
  await withLock(cache, name, async () => {
    if (await isThere()) return
    say('installing packages with npm')
    await mkdir(folder, { recursive: true })
    for (const file of ['package.json', 'package-lock.json']) await copyFile(join(from, file), join(folder, file))
    await output('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder })
  })
  const { dependencies } = JSON.parse(await readFile(join(from, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  return { folder, versions: dependencies }
}
