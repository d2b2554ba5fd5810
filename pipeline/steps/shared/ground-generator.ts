import type { TypeNames } from '../../../src/plan/schema/provider-schema.ts'
import { declaredTypes, mentionedTypes, type TypeName, uniqueTypes } from '../../../src/plan/schema/read.ts'
import { renderTypes } from '../../../src/plan/schema/render.ts'
import type { Kit } from '../../kit/kit.ts'
import { createFileAccess } from '../../workspace/files/access.ts'

const ROOM = { type: 6_000, total: 24_000 }
const MAX_TYPES = 24

export interface TypesInPlay {
  /** What the generator is asked, and what the engine said. */
  query: string
  /** Bodies of the selected resource prompts. */
  templates: readonly string[]
}

/**
 * Reads the schemas of the types that the query, the session's changes, the selected prompts and the code name, in this
 * order. The text is empty when no provider has any of them; null as long as nothing is known of the providers, which
 * is so before the first init.
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
    const wanted = existing(candidates, names)
    const schemas = (await engine.schema.of(wanted.slice(0, MAX_TYPES))) ?? []
    return renderTypes(schemas, ROOM).text
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

const existing = (candidates: readonly TypeName[], names: TypeNames): TypeName[] => {
  const known = { resource: new Set(names.resource), data: new Set(names.data) }
  return candidates.filter(({ mode, type }) => known[mode].has(type))
}
