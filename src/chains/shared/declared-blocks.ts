import { isCodePath, readBlocks } from '../../plan/code/blocks.ts'

const LISTED = new Set(['resource', 'data', 'ephemeral', 'module', 'variable', 'output', 'local'])

/** A path of code that the engine reads: blocks in either syntax, and values of variables. */
const CODE = /\.(tf|tofu|tfvars)(\.json)?$/

export const isCode = (path: string): boolean => CODE.test(path)
/** True for the root's own description, which often holds its conventions. */
export const isReadme = (path: string): boolean => /^readme(\.(md|txt))?$/i.test(path)

/** Local values of a file that are listed. */
const MAX_LOCALS = 40

/**
 * Lists the top-level declarations of a file of code in either syntax: `resource type.name`, `data type.name`,
 * `ephemeral type.name`, `module name`, `variable name`, `output name`, `local name`; none for any other file.
 */
export function declaredBlocksIn(path: string, text: string): string[] {
  if (!isCodePath(path)) return []
  let locals = 0
  return readBlocks(path, text).blocks.flatMap(({ kind, labels }) =>
    LISTED.has(kind) && labels.length > 0 && (kind !== 'local' || locals++ < MAX_LOCALS)
      ? [`${kind} ${labels.slice(0, 2).join('.')}`]
      : [],
  )
}
