import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A folder with these files: text by path. `[Symbol.asyncDispose]` removes it. */
export async function createTree(files: Record<string, string>): Promise<AsyncDisposable & { root: string }> {
  const root = await mkdtemp(join(tmpdir(), 'tree-'))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) }
}
