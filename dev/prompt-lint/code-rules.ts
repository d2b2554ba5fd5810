import { blocksWithin, isWrittenOut, readHcl } from '../../src/hcl/read.ts'
import type { HclValue } from '../../src/hcl/tree.ts'
import { carriesSecret, isLiteralSecret } from '../../src/rules/common/secret-forms.ts'
import { findUnformatted } from './format.ts'
import { splitMarkdown } from './markdown.ts'
import { findUnknownArguments, type ProviderSchema } from './schema.ts'
import type { Complaint } from './text-rules.ts'

/**
 * Checks the examples in configuration language.
 * @param schema schemas of the providers; null when there are none
 */
export function checkCode(body: string, schema: ProviderSchema | null): Complaint[] {
  const { examples } = splitMarkdown(body)
  const unnamed = examples
    .filter(({ language }) => language === '')
    .map(({ line }) => ({ rule: 'example', line: line - 1, message: 'opens a code block without a language' }))
  const hcl = examples.filter(({ language }) => language === 'hcl')
  return [
    ...unnamed,
    ...hcl.flatMap(({ code, line }) => exampleComplaints(code, schema).map((found) => moved(found, line - 1))),
  ]
}

const moved = (complaint: Complaint, by: number): Complaint => ({ ...complaint, line: (complaint.line ?? 1) + by })

function exampleComplaints(code: string, schema: ProviderSchema | null): Complaint[] {
  const [fault] = readHcl(code).faults
  if (fault !== undefined) return [{ rule: 'example', ...fault }]
  const unknown = schema === null ? [] : findUnknownArguments(schema, code)
  return [
    ...findUnformatted(code.replace(/\n$/, '')).map(({ line, message }) => ({ rule: 'format', line, message })),
    ...unknown.map(({ path, line, problem }) => ({ rule: 'schema', line, message: `${path} ${problem}` })),
    ...findLiteralSecrets(code),
  ]
}

/** Finds literal values of secrets, which would teach a model to write secrets into code. */
function findLiteralSecrets(code: string): Complaint[] {
  const top = readHcl(code).body.blocks.map((block) => ({
    type: block.labels[0] ?? '',
    blocks: [block, ...blocksWithin(block.body)],
  }))
  return top.flatMap(({ type, blocks }) =>
    blocks.flatMap((block) =>
      block.body.attributes
        .filter(({ name, value }) => carriesSecret(type, name) && isLiteralText(value))
        .map(({ name, line }) => ({ rule: 'secret', line, message: `gives ${name} a literal value` })),
    ),
  )
}

const isLiteralText = (value: HclValue): boolean =>
  value.kind === 'string' && isWrittenOut(value) && isLiteralSecret(value.value)
