import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Part } from '../part.ts'
import { output } from '../tools/command.ts'
import { withLock } from '../tools/lock.ts'

const PACKAGES = join(import.meta.dirname, '../../oracles')

/** The official clients of the model providers, beside which our wire forms must say and read the same. */
export const part: Part = {
  name: 'oracles',
  about: "requests, answers, errors and streams of models as the providers' own clients write and read them",
  ci: true,
  install: async ({ cache, say }) => {
    const lock = await readFile(join(PACKAGES, 'package-lock.json'))
    const folder = join(cache, `oracles-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`)
    const done = join(folder, 'node_modules/.package-lock.json')
    await withLock(cache, 'oracles', async () => {
      if (await isThere(done)) return
      say('installing the official clients with npm')
      await mkdir(folder, { recursive: true })
      for (const name of ['package.json', 'package-lock.json']) await copyFile(join(PACKAGES, name), join(folder, name))
      await output('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: folder,
        minutes: 5,
      })
    })
    const { dependencies } = JSON.parse(await readFile(join(PACKAGES, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    const version = Object.entries(dependencies)
      .map(([name, pinned]) => `${name.replace(/^@[^/]+\/(?!sdk)|\/sdk$/g, '')} ${pinned}`)
      .join(', ')
    return { version, env: { ORACLES: folder } }
  },
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
