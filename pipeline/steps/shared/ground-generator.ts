import type { TypeNames } from '../../../src/plan/schema/provider-schema.ts'
import { declaredTypes, mentionedTypes, type TypeName, uniqueTypes } from '../../../src/plan/schema/read.ts'
import { renderTypes } from '../../../src/plan/schema/render.ts'
import type { Kit } from '../../kit/kit.ts'
import { createFileAccess } from '../../workspace/files/access.ts'

/** Longest schema of one type, and of all of them together. */
const MAX_CHARS = { type: 6_000, total: 24_000 }
const MAX_TYPES = 24

export interface TypesInPlay {
  /** What the generator is asked, and what the engine said. */
  query: string
  /** Bodies of the selected resource prompts. */
  templates: readonly string[]
}

/**
 * Reads the provider schemas of the resource types that the generator is likely to need, as one text: those that the
 * query names, then those in the session's changes, in the selected prompts and in the code. The text is empty when no
 * provider has any of them, and null before the first init of the engine, when nothing is known of the providers.
 */
export async function readSchemas(kit: Kit, { query, templates }: TypesInPlay): Promise<string | null> {
  const { run, engine } = kit
  try {
    const names = await engine.schema.names()
    if (!names) return null
    const candidates = uniqueTypes([
      ...mentionedTypes(query),
      ...declaredTypes(await run.workspace.branchDiff()),
      ...templates.flatMap(mentionedTypes),
      ...(await typesInCode(kit)),
    ])
    const types = keepExisting(candidates, names)
    const schemas = (await engine.schema.of(types.slice(0, MAX_TYPES))) ?? []
    return renderTypes(schemas, MAX_CHARS).text
  } catch (error) {
    run.signal.throwIfAborted()
    run.log.warn('the generator goes on without provider schemas', { error })
    return null
  }
}

async function typesInCode({ run }: Kit): Promise<TypeName[]> {
  const files = createFileAccess(run.context.config, run.workspace)
  const lines = await files
    .grep({ query: '^\\s*(resource|data)\\s+"', include_pattern: '*.tf', case_sensitive: true }, run.signal)
    .catch(() => [])
  return declaredTypes(lines.map((line) => line.replace(/^.*?:\d+:/, '')).join('\n'))
}

const keepExisting = (candidates: readonly TypeName[], names: TypeNames): TypeName[] => {
  const known = { resource: new Set(names.resource), data: new Set(names.data) }
  return candidates.filter(({ mode, type }) => known[mode].has(type))
}
