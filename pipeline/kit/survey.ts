import { declaredBlocksIn, isCode, isReadme } from '../../src/chains/shared/declared-blocks.ts'
import type { RepositoryFile } from '../../src/chains/shared/repository.ts'
import { createFileAccess, type SurveyedFile } from '../workspace/files/access.ts'
import type { Run } from './run.ts'

/** Maximum bytes of a file. */
const MAX_BYTES = 128 * 1024
/** Maximum characters of the root's description. */
const MAX_README = 6_000
/** Maximum number of files; those of the root come first. */
const MAX_READ = 300

/** The files of the engine root, shared by all steps. */
export interface Survey {
  /** Returns the files as of the branch head; none, with a logged failure, when the root cannot be searched. */
  files(): Promise<RepositoryFile[]>
}

/** Creates a survey that is repeated after each commit of an attempt. */
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
    const texts = await access.readAll(readable(surveyed))
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

const readable = (files: readonly SurveyedFile[]): string[] =>
  files
    .filter(({ path, bytes }) => (isCode(path) && bytes <= MAX_BYTES) || (isReadme(path) && bytes <= MAX_README))
    .sort((a, b) => depthOf(a) - depthOf(b))
    .slice(0, MAX_READ)
    .map(({ path }) => path)
