import { carriesSecret, hasUrlPassword, isLiteralSecret, tokensIn } from '../../src/base/secret-forms.ts'
import { wordsOf } from '../../src/base/text.ts'
import { blocksWithin, isWrittenOut, readHcl } from '../../src/hcl/read.ts'
import type { HclValue } from '../../src/hcl/tree.ts'
import { splitMarkdown, withoutCode } from './markdown.ts'
import { findUnknownArguments, findUnknownReferences, type ProviderSchema } from './schema.ts'

/** A fault of a prompt. `line` counts in its body from 1; null stands for the text as a whole. */
export interface Complaint {
  rule: string
  line: number | null
  message: string
}

/** The sections of every resource prompt, in this order. */
export const HEADINGS = [
  'Purpose',
  'Required',
  'Recommended and secure defaults',
  'Naming',
  'Dependencies',
  'Common mistakes',
  'Import and drift',
  'How it is checked',
]

const LENGTHS = { resources: [200, 900], guidelines: [30, 1500], compliance: [100, 1500] } as const

const ANYWHERE: [rule: string, pattern: RegExp, message: string][] = [
  ['placeholder', /\{\{|\}\}|\{%|%\}/, 'holds a placeholder of a template language'],
  ['placeholder', /\b(?:TODO|FIXME|TBD|XXX)\b|\blorem ipsum\b/i, 'is unfinished'],
  ['style', /[\u2013\u2014]/, 'holds a dash that is longer than a hyphen'],
  [
    'style',
    /\b(?:seamless(?:ly)?|effortless(?:ly)?|cutting-edge|best-in-class|world-class|state-of-the-art|enterprise-grade|game-chang\w+|supercharge\w*|blazing\w*|revolutionary|unleash\w*|turnkey)\b/i,
    'advertises',
  ],
]
const PROSE: [rule: string, pattern: RegExp, message: string][] = [
  ['placeholder', /<[A-Za-z][^<>]*>/, 'holds an angle placeholder outside of code'],
  ['placeholder', /\$\{/, 'holds an unfilled expression outside of code'],
]

export function textComplaints(type: 'guidelines' | 'resources' | 'compliance', body: string): Complaint[] {
  const { prose, open } = splitMarkdown(body)
  const lines = body.split('\n')
  return [
    ...lengthOf(type, body),
    ...(open === null ? [] : [{ rule: 'fence', line: open, message: 'opens a code block that nothing closes' }]),
    ...(/^# \S/.test(body) ? [] : [{ rule: 'headings', line: 1, message: 'does not begin with a title' }]),
    ...(type === 'resources' ? headingsOf(prose) : []),
    ...matches(lines, ANYWHERE),
    ...matches(prose.map(withoutCode), PROSE),
    ...lines.flatMap((text, index) => secretsOf(text).map((message) => ({ rule: 'secret', line: index + 1, message }))),
  ]
}

function lengthOf(type: keyof typeof LENGTHS, body: string): Complaint[] {
  const [least, most] = LENGTHS[type]
  const words = wordsOf(body).length
  return words >= least && words <= most
    ? []
    : [{ rule: 'length', line: null, message: `has ${words} words; ${least} to ${most} are allowed` }]
}

function headingsOf(prose: readonly string[]): Complaint[] {
  const headings = prose.flatMap((text) => /^## (.*)$/.exec(text)?.[1] ?? [])
  const empty = prose.flatMap((text, index) => (/^## /.test(text) && isEmptySection(prose, index) ? [index + 1] : []))
  const message = `has the sections ${headings.join(', ') || 'none'}; it needs ${HEADINGS.join(', ')}`
  const isInOrder = headings.join('\n') === HEADINGS.join('\n')
  const order = isInOrder ? [] : [{ rule: 'headings', line: null, message }]
  return [...order, ...empty.map((line) => ({ rule: 'headings', line, message: 'is a section without text' }))]
}

function isEmptySection(prose: readonly string[], heading: number): boolean {
  const next = prose.findIndex((text, index) => index > heading && /^## /.test(text))
  return prose.slice(heading + 1, next === -1 ? undefined : next).every((text) => text.trim() === '')
}

const matches = (lines: readonly string[], patterns: typeof ANYWHERE): Complaint[] =>
  lines.flatMap((text, index) =>
    patterns.flatMap(([rule, pattern, message]) => (pattern.test(text) ? [{ rule, line: index + 1, message }] : [])),
  )

const secretsOf = (text: string): string[] => [
  ...tokensIn(text).map((name) => `holds ${name}`),
  ...(hasUrlPassword(text) ? ['holds an address with a password'] : []),
]

/**
 * Checks the examples in configuration language.
 * @param schema schemas of the providers; null when there are none
 */
export function checkCode(body: string, schema: ProviderSchema | null): Complaint[] {
  const { examples, prose } = splitMarkdown(body)
  const unnamed = examples
    .filter(({ language }) => language === '')
    .map(({ line }) => ({ rule: 'example', line: line - 1, message: 'opens a code block without a language' }))
  const hcl = examples.filter(({ language }) => language === 'hcl')
  return [
    ...unnamed,
    ...hcl.flatMap(({ code, line }) => exampleComplaints(code, schema).map((found) => moved(found, line - 1))),
    ...(schema === null ? [] : proseReferences(prose, schema)),
  ]
}

/** A line about one version of the provider, which may name what another one does not have. */
const OF_A_VERSION = /\b(?:provider|version) \d|\bin \d\b/i

/** Checks the references in backticks, except in lines about one version of the provider. */
const proseReferences = (prose: readonly string[], schema: ProviderSchema): Complaint[] =>
  prose.flatMap((text, index) =>
    OF_A_VERSION.test(text)
      ? []
      : [...text.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) =>
          findUnknownReferences(schema, code).map((path) => unknownReference(path, index + 1)),
        ),
  )

const unknownReference = (path: string, line: number): Complaint => ({
  rule: 'schema',
  line,
  message: `${path} does not exist`,
})

const moved = (complaint: Complaint, by: number): Complaint => ({ ...complaint, line: (complaint.line ?? 1) + by })

function exampleComplaints(code: string, schema: ProviderSchema | null): Complaint[] {
  const [fault] = readHcl(code).faults
  if (fault !== undefined) return [{ rule: 'example', ...fault }]
  const unknown = schema === null ? [] : findUnknownArguments(schema, code)
  return [
    ...findUnformatted(code.replace(/\n$/, '')).map(({ line, message }) => ({ rule: 'format', line, message })),
    ...unknown.map(({ path, line, problem }) => ({ rule: 'schema', line, message: `${path} ${problem}` })),
    ...(schema === null ? [] : codeReferences(code, schema)),
    ...findLiteralSecrets(code),
  ]
}

/** Checks the references of an example, line by line. */
const codeReferences = (code: string, schema: ProviderSchema): Complaint[] =>
  code
    .split('\n')
    .flatMap((text, index) => findUnknownReferences(schema, text).map((path) => unknownReference(path, index + 1)))

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
