import type { Run } from '../run.ts'

/** One body for each name. */
type Bodies<Names extends readonly string[]> = { -readonly [Index in keyof Names]: string }

/**
 * Bodies of the named prompts, in the order of the names, fetched together.
 * Errors: `PlatformError` 404 `Prompt not found: <name>`.
 */
export async function promptBodies<const Names extends readonly string[]>(
  { context, signal }: Run,
  ...names: Names
): Promise<Bodies<Names>> {
  const bodies = await Promise.all(names.map((name) => context.prompts.body(name, signal)))
  const isComplete = (list: string[]): list is string[] & Bodies<Names> => list.length === names.length
  if (!isComplete(bodies)) throw new Error('a prompt body is missing')
  return bodies
}
