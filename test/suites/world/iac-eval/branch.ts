import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gitOrThrow } from '../../../../dev/git-host/repositories.ts'

/** Puts another text of a file on top of a branch, as if the round had written it. */
export async function overwrite(repository: string, branch: string, file: string, text: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'world-branch-'))
  try {
    await gitOrThrow(['clone', '--quiet', '--branch', branch, repository, folder])
    await writeFile(join(folder, file), text)
    await gitOrThrow(['commit', '--quiet', '--all', '--message', 'Planted fault'], { cwd: folder })
    await gitOrThrow(['push', '--quiet', repository, `HEAD:${branch}`], { cwd: folder })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
