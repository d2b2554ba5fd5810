import { type ContextBudget, contextBudget } from '../../../src/agent/context-budget.ts'
import type { ShownRepository } from '../../../src/chains/iac-generator.ts'
import { readDeclaredBlocks } from '../../../src/chains/shared/declared-blocks.ts'
import {
  chooseFiles,
  describeBlocks,
  describeChosen,
  describeFiles,
  type RepositoryFile,
} from '../../../src/chains/shared/repository.ts'
import type { ModelRole } from '../../../src/llm/types.ts'
import type { Kit } from '../../kit/kit.ts'
import { createFileAccess, type SurveyedFile } from '../../workspace/files/access.ts'

/** Largest file that is read. */
const MAX_BYTES = 128 * 1024
/** Most files that are read. */
const MAX_READ = 300
/** Files that are read at the same time. */
const READERS = 16

/**
 * Reads the files of the engine root and what they declare. A file that cannot be read has no text; when the root
 * cannot be searched, the failure is logged and there are no files.
 */
export async function readFiles(kit: Kit): Promise<RepositoryFile[]> {
  const { run } = kit
  try {
    const access = createFileAccess(run.context.config, run.workspace)
    const surveyed = await access.survey(run.signal)
    const isCode = ({ path, bytes }: SurveyedFile) => path.endsWith('.tf') && bytes <= MAX_BYTES
    const read = surveyed.filter(isCode).slice(0, MAX_READ)
    const texts = new Map<string, string>()
    const waiting = [...read]
    const reader = async () => {
      for (let file = waiting.pop(); file; file = waiting.pop()) {
        const text = await access.read(file.path).catch(() => null)
        if (text !== null) texts.set(file.path, text)
      }
    }
    await Promise.all(Array.from({ length: READERS }, reader))
    return surveyed.map((file) => {
      const text = texts.get(file.path) ?? null
      return { ...file, text, blocks: text === null ? [] : readDeclaredBlocks(text) }
    })
  } catch (error) {
    if (!run.signal.aborted) run.log.warn('the files of the repository could not be looked at', { error })
    return []
  }
}

/**
 * Share of a model's context that a text may take, and the tokens that are enough for it however large the context is.
 */
const OVERVIEW = { share: 0.04, maxTokens: 4_000 }
const FILES = { share: 0.1, maxTokens: 10_000 }

const shareOfBudget = ({ run }: Kit, role: ModelRole, { share, maxTokens }: typeof OVERVIEW): ContextBudget => {
  const budget = contextBudget(run.context.config.llm, role)
  return { ...budget, tokens: Math.min(maxTokens, Math.floor(budget.tokens * share)) }
}

/** Lists what the repository declares, masked, for the model that turns a request into statements. */
export const readDeclarations = async (kit: Kit, files: Promise<RepositoryFile[]>): Promise<string> =>
  kit.secrets.text(describeBlocks(await files, shareOfBudget(kit, 'small', OVERVIEW)))

/**
 * Reads what the generator would look for first: an overview of the files, and the whole files that the task is about.
 * Null when there are no files, or when they could not be read.
 * @param about the words of the task
 */
export async function readForTask(kit: Kit, about: string): Promise<ShownRepository | null> {
  const files = await readFiles(kit)
  if (files.length === 0) return null
  const changed = await findChangedFiles(kit)
  return {
    overview: describeFiles(files, shareOfBudget(kit, 'main', OVERVIEW)),
    relevant: describeChosen(chooseFiles(files, about, changed, shareOfBudget(kit, 'main', FILES))),
  }
}

/** Paths of the files that earlier rounds of the session changed. */
async function findChangedFiles({ run }: Kit): Promise<Set<string>> {
  const diff = run.round.number > 1 ? await run.workspace.branchDiff().catch(() => '') : ''
  return new Set([...diff.matchAll(/^\+\+\+ (.+)$/gm)].map(([, path = '']) => path.trim()))
}
