import { readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../config/types.ts'
import { forEachOf } from '../../../src/base/gate.ts'
import { createSlices } from '../../../src/base/slices.ts'
import { remoteUrl, repositoryName } from '../../../src/repository/remote.ts'
import { classifyRoots, type RootModule } from '../../../src/repository/roots/classify.ts'
import { needsContents, readFolders } from '../../../src/repository/roots/folders.ts'
import { findToolFiles } from '../../../src/repository/roots/tools.ts'
import { createLocalGit, MAX_LISTING } from '../git/git.ts'
import type { Workspace } from '../workspace.ts'
import { readWhole } from './private-files.ts'

/** Limits of what is read of one clone. */
const MAX_BYTES = 256 * 1024
const MAX_FILES = 20_000
const READERS = 16
const LINK = '120000'

/** Root modules of a clone, and tools besides the engine with the path of a file of each. */
export interface CloneRoots {
  roots: RootModule[]
  tools: ReturnType<typeof findToolFiles>
}

/**
 * Finds the root modules in the committed files of a clone, by the rules of `repository/parse`. Null when they are too
 * many or cannot be listed.
 * @param uri address of the repository
 */
export async function findCloneRoots(
  config: Config,
  { clone, gitDirectory: directory, complete }: Pick<Workspace, 'clone' | 'gitDirectory' | 'complete'>,
  uri: string,
  signal: AbortSignal,
): Promise<CloneRoots | null> {
  await complete()
  const git = createLocalGit(config.git, { directory, workTree: clone }, signal)
  const listed = await git(['ls-files', '--stage', '-z'], { maxOutput: MAX_LISTING })
  if (listed.code !== 0 || listed.stopped) return null
  // Each line is `<mode> <hash> <stage>`, a tab, and the path.
  const files = listed.stdout
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const [mode, hash = ''] = line.split(' ', 2)
      return { path: line.slice(line.indexOf('\t') + 1), hash, isLink: mode === LINK }
    })
  const needed = files.filter(needsContents)
  if (needed.length > MAX_FILES) return null
  const contents = new Map<string, string>()
  await forEachOf(needed, READERS, async ({ path, isLink }) => {
    const text = await (isLink ? readlink(join(clone, path)) : readWhole(join(clone, path), MAX_BYTES)).catch(
      () => null,
    )
    if (text !== null) contents.set(path, text)
  })
  const name = repositoryName(remoteUrl(config.git, uri))
  const read = ({ path }: { path: string }) => contents.get(path) ?? null
  const { folders } = await readFolders(files, { name, read, slices: createSlices(signal) })
  return { roots: classifyRoots(folders, name), tools: findToolFiles(files.map(({ path }) => path)) }
}
