import type { TypeNames } from '../../../src/plan/schema/provider-schema.ts'
import {
  declaredTypes,
  keyOf,
  mentionedTypes,
  type TypeName,
  uniqueTypes,
} from '../../../src/plan/schema/read-schema.ts'
import { renderTypes } from '../../../src/plan/schema/render.ts'
import type { Kit } from '../../kit/kit.ts'
import { chooseForTask } from '../shared/look-at-repository.ts'

/** Maximum characters of the schema of one type, and of all together. */
const MAX_CHARS = { type: 6_000, total: 12_000 }
const MAX_TYPES = 12

export interface TypesInPlay {
  /** The query of the generator, with the engine output. */
  query: string
  /** Bodies of the selected resource prompts. */
  templates: readonly string[]
}

/**
 * Reads the provider schemas that the generator probably needs as one text: types in the query, then those in the
 * session's changes and the selected prompts, unless nearby code shows their use. Others are available through a tool.
 * Empty when no provider has them; null before the first init.
 */
export async function readSchemas(kit: Kit, { query, templates }: TypesInPlay): Promise<string | null> {
  const { run, engine } = kit
  try {
    const names = await engine.schema.names()
    if (!names) return null
    const { chosen } = await chooseForTask(kit, query)
    const shown = new Set(chosen.flatMap(({ text }) => declaredTypes(text)).map(keyOf))
    const likely = [...declaredTypes(await run.workspace.branchDiff()), ...templates.flatMap(mentionedTypes)]
    const candidates = uniqueTypes([...mentionedTypes(query), ...likely.filter((type) => !shown.has(keyOf(type)))])
    const types = keepExisting(candidates, names)
    const schemas = (await engine.schema.of(types.slice(0, MAX_TYPES))) ?? []
    return renderTypes(schemas, MAX_CHARS).text
  } catch (error) {
    run.signal.throwIfAborted()
    run.log.warn('the generator goes on without provider schemas', { error })
    return null
  }
}

const keepExisting = (candidates: readonly TypeName[], names: TypeNames): TypeName[] => {
  const known = { resource: new Set(names.resource), data: new Set(names.data), ephemeral: new Set(names.ephemeral) }
  return candidates.filter(({ mode, type }) => known[mode].has(type))
}
