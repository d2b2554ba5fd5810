import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { indexDocument } from '../../../../sidecars/iac/schema/cache.ts'
import { type Block, readBlock, type TypeSchema } from '../../../../src/plan/schema/read-schema.ts'
import { renderType } from '../../../../src/plan/schema/render.ts'
import { documentOf, INSTALLED } from './documents.ts'

const SECTIONS = [
  ['resource', 'resource_schemas'],
  ['data', 'data_source_schemas'],
] as const
/** The schema of one type as a generator is shown it, and the answer of the tool. */
const LIMITS = [6_000, 12_000]

/** Lines that a text must have, whatever is left out: what is required, and the name of every block. */
function neededLines({ attributes = {}, block_types = {} }: Block): string[] {
  return [
    ...Object.keys(attributes).filter((name) => attributes[name]?.required),
    ...Object.keys(block_types)
      .filter((name) => name !== 'timeouts')
      .map((name) => `block ${name}`),
  ]
}

describe.each(INSTALLED)('schema document of $source $version', (installed) => {
  const typesOf = async (): Promise<TypeSchema[]> => {
    const { content } = await documentOf(installed)
    return Object.entries(content.provider_schemas).flatMap(([provider, sections]) =>
      SECTIONS.flatMap(([mode, key]) =>
        Object.entries((sections as Record<string, Record<string, unknown>>)[key] ?? {}).map(([type, schema]) => ({
          mode,
          type,
          provider,
          version: installed.version,
          schema,
        })),
      ),
    )
  }

  it('has each type where the index of the sidecar says', async () => {
    const { path, content } = await documentOf(installed)
    const index = await indexDocument(path)
    const bytes = await readFile(path)
    const checked: string[] = []
    for (const [provider, sections] of Object.entries<Record<string, Record<string, unknown>>>(
      content.provider_schemas,
    ))
      for (const [, key] of SECTIONS)
        for (const [type, schema] of Object.entries(sections[key] ?? {})) {
          const [offset, length] = index?.providers[provider]?.[key][type] ?? [0, 0]
          expect(JSON.parse(bytes.subarray(offset, offset + length).toString('utf8')), type).toEqual(schema)
          checked.push(type)
        }
    expect(checked.length).toBeGreaterThan(50)
  })

  it.each(LIMITS)('is told in %d characters with all that is required and every block', async (limit) => {
    const lacking: string[] = []
    for (const schema of await typesOf()) {
      const text = renderType(schema, limit)
      const lines = neededLines(readBlock(schema.schema) ?? {})
      const missing = lines.filter((line) => !text?.includes(`\n  ${line}:`))
      if (text === null || text.length > limit || missing.length > 0) lacking.push(`${schema.type}: ${missing}`)
    }
    expect(lacking).toEqual([])
  })
})
