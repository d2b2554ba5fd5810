import { estimateTokens } from '../../../src/agent/context-budget.ts'
import { declaredBlocksIn } from '../../../src/chains/shared/declared-blocks.ts'
import type { RepositoryFile } from '../../../src/chains/shared/repository.ts'

export const estimate = (text: string) => estimateTokens(text, 3)
export const budget = (tokens: number) => ({ tokens, estimate })

/** Makes a file; without a text it is one that was not read. */
export const file = (path: string, text: string | null = null): RepositoryFile => ({
  path,
  bytes: text?.length ?? 2_048,
  text,
  blocks: text === null ? [] : declaredBlocksIn(path, text),
})
