import { hasUrlPassword, tokensIn } from '../../src/rules/common/secret-forms.ts'
import { splitMarkdown, withoutCode, wordsIn } from './markdown.ts'

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
  const words = wordsIn(body)
  return words >= least && words <= most
    ? []
    : [{ rule: 'length', line: null, message: `has ${words} words; ${least} to ${most} are allowed` }]
}

function headingsOf(prose: readonly string[]): Complaint[] {
  const headings = prose.flatMap((text) => /^## (.*)$/.exec(text)?.[1] ?? [])
  const empty = prose.flatMap((text, index) => (/^## /.test(text) && isEmptySection(prose, index) ? [index + 1] : []))
  const order =
    headings.join('\n') === HEADINGS.join('\n')
      ? []
      : [
          {
            rule: 'headings',
            line: null,
            message: `has the sections ${headings.join(', ') || 'none'}; it needs ${HEADINGS.join(', ')}`,
          },
        ]
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
