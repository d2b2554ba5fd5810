import { blocksWithin, isWrittenOut, readHcl } from '../../src/hcl/read.ts'
import type { HclValue } from '../../src/hcl/tree.ts'
import { carriesSecret, isLiteralSecret } from '../../src/rules/common/secret-forms.ts'
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

/** Checks for unformatted code, a small part of the engine's own formatter. */

const ASSIGNMENT = /^( *)((?:"[^"]*"|[\w.-]+) *)=(?![=>])/

/** Finds lines that the formatter would change. The first line is 1. */
export function findUnformatted(code: string): { line: number; message: string }[] {
  const lines = code.split('\n')
  const faults: { line: number; message: string }[] = []
  let depth = 0
  lines.forEach((text, index) => {
    const line = index + 1
    if (/\t/.test(text)) faults.push({ line, message: 'has a tab' })
    if (/\s$/.test(text)) faults.push({ line, message: 'ends with a blank' })
    const { opens, closes, leading } = countBrackets(text)
    const indent = (depth - (leading ? 1 : 0)) * 2
    if (text.trim() !== '' && text.search(/\S/) !== indent)
      faults.push({ line, message: `is not indented by ${indent}` })
    depth = Math.max(0, depth + Math.sign(opens - closes))
  })
  return [...faults, ...findMisaligned(lines)].toSorted((a, b) => a.line - b.line)
}

/** Counts brackets, except those in texts and comments. */
function countBrackets(text: string) {
  const bare = text.replace(/"(?:\\.|[^"\\])*"/g, '""').replace(/(#|\/\/).*$/, '')
  const count = (pattern: RegExp) => bare.match(pattern)?.length ?? 0
  return { opens: count(/[{[(]/g), closes: count(/[}\])]/g), leading: /^\s*[}\])]/.test(bare) }
}

/** Finds misaligned equals signs: those of consecutive one-line arguments are in one column. */
function findMisaligned(lines: readonly string[]): { line: number; message: string }[] {
  const faults: { line: number; message: string }[] = []
  let group: { line: number; indent: string; name: string }[] = []
  const close = () => {
    const width = Math.max(...group.map(({ name }) => name.trimEnd().length)) + 1
    for (const { line, name } of group)
      if (name.length !== width) faults.push({ line, message: 'has its equals sign in another column' })
    group = []
  }
  lines.forEach((text, index) => {
    const [, indent = '', name = ''] = ASSIGNMENT.exec(text) ?? []
    const { opens, closes } = countBrackets(text)
    const single = name !== '' && opens === closes
    if (group.length > 0 && (!single || indent !== group[0]?.indent)) close()
    if (single) group.push({ line: index + 1, indent, name })
    else if (name !== '' && !/\S $/.test(name))
      faults.push({ line: index + 1, message: 'has its equals sign in another column' })
  })
  if (group.length > 0) close()
  return faults
}
