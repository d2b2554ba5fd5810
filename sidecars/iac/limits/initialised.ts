import { createHash } from 'node:crypto'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Reports whether an `init` of this service, which refuses a repository's providers, has run in a workspace. */
export async function isInitialised(dataDir: string, workspace: string): Promise<boolean> {
  const mark = await readFile(markOf(dataDir, workspace), 'utf8').catch(() => null)
  return mark !== null && mark === (await identityOf(workspace))
}

/** Records that an `init` runs in a workspace. A folder created later under the same path does not count. */
export async function noteInitialised(dataDir: string, workspace: string): Promise<void> {
  await mkdir(join(dataDir, 'initialised'), { recursive: true })
  await writeFile(markOf(dataDir, workspace), await identityOf(workspace), { mode: 0o600 })
}

const markOf = (dataDir: string, workspace: string): string =>
  join(dataDir, 'initialised', createHash('sha256').update(workspace).digest('hex'))

async function identityOf(workspace: string): Promise<string> {
  const { dev, ino, birthtimeMs } = await stat(workspace)
  return `${dev}:${ino}:${birthtimeMs}`
}
