import { declaredBlocksIn, isCode, isReadme } from '../../src/chains/shared/declared-blocks.ts'
import type { RepositoryFile } from '../../src/chains/shared/repository.ts'
import { createFileAccess, type SurveyedFile } from '../workspace/files/access.ts'
import type { Run } from './run.ts'

/** Largest file that is read. */
const MAX_BYTES = 128 * 1024
/** Largest description of the root that is read. */
const MAX_README = 6_000
/** Most files that are read; those of the root come first. */
const MAX_READ = 300
/** Files that are read at the same time. */
const READERS = 16

/** The files of the engine root, read once for all steps. */
export interface Survey {
  /**
   * The files and what they declare, as they were when the branch got its present head. A file that cannot be read has
   * no text; when the root cannot be searched, the failure is logged and there are no files.
   */
  files(): Promise<RepositoryFile[]>
}

/** Makes a survey that reads the files again when an attempt was committed since. */
export function createSurvey(run: Run): Survey {
  let last: { head: string; files: Promise<RepositoryFile[]> } | null = null
  return {
    files: async () => {
      const head = await run.workspace.head().catch(() => null)
      if (head === null) return await readFiles(run)
      if (last?.head !== head) last = { head, files: readFiles(run) }
      return await last.files
    },
  }
}

async function readFiles(run: Run): Promise<RepositoryFile[]> {
  try {
    const access = createFileAccess(run.context.config, run.workspace)
    const surveyed = await access.survey(run.signal)
    const texts = new Map<string, string>()
    const waiting = readable(surveyed)
    const reader = async () => {
      for (let file = waiting.shift(); file; file = waiting.shift()) {
        const text = await access.read(file.path).catch(() => null)
        if (text !== null) texts.set(file.path, text)
      }
    }
    await Promise.all(Array.from({ length: READERS }, reader))
    return surveyed.map((file) => {
      const text = texts.get(file.path) ?? null
      return { ...file, text, blocks: text === null ? [] : declaredBlocksIn(file.path, text) }
    })
  } catch (error) {
    if (!run.signal.aborted) run.log.warn('the files of the repository could not be looked at', { error })
    return []
  }
}

const depthOf = ({ path }: SurveyedFile) => path.split('/').length

const readable = (files: readonly SurveyedFile[]): SurveyedFile[] =>
  files
    .filter(({ path, bytes }) => (isCode(path) && bytes <= MAX_BYTES) || (isReadme(path) && bytes <= MAX_README))
    .sort((a, b) => depthOf(a) - depthOf(b))
    .slice(0, MAX_READ)
