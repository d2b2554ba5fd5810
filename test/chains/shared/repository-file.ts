import { declaredBlocksIn } from '../../../src/chains/shared/declared-blocks.ts'
import type { RepositoryFile, RepositorySurvey } from '../../../src/chains/shared/repository.ts'
import { estimateTokens } from '../../../src/llm/tokens.ts'

export const estimate = (text: string) => estimateTokens(text, 3)
export const budget = (tokens: number) => ({ tokens, estimate })

/** Makes a file; without a text it is one that was not read. */
export const file = (path: string, text: string | null = null): RepositoryFile => ({
  path,
  bytes: text?.length ?? 2_048,
  text,
  blocks: text === null ? [] : declaredBlocksIn(path, text),
})

/** Makes the survey of a repository whose files are all listed. */
export const survey = (files: RepositoryFile[], changes: Partial<RepositorySurvey> = {}): RepositorySurvey => ({
  files,
  root: '',
  beyondLimit: 0,
  elsewhere: { files: 0, code: 0 },
  isWhole: true,
  ...changes,
})
