import { describe, expect, it } from 'vitest'
import { code, cut, inline, plainTitle, prose, table } from '../../../src/pull-requests/evidence/markdown.ts'

/** Texts that a host would act on, in any position. */
const ACTIVE: [string, RegExp][] = [
  ['mention', /@[A-Za-z0-9]/],
  ['reference', /(^|[^&\\])[#!~%$^&](?=\d|[A-Za-z"])(?!amp;|lt;|gt;)/],
  ['link or image', /(^|[^\\])\[[^\]]*[^\\]\]\(|(^|[^\\])\]\(/],
  ['address', /:\/\/|www\./],
  ['HTML', /<[a-z!/]/i],
  ['tracker', /\b(GH|PROJ|AB)-\d/],
]

const HOSTILE = [
  '@octocat please review, cc @acme/admins',
  'Fixes #1, closes acme/infra#2, resolves GH-3 and PROJ-4, fixes AB#5',
  'Closes https://github.com/acme/infra/issues/6',
  '![pixel](https://evil.example/x.png?d=1) [click](javascript:alert(1)) <https://evil.example>',
  '<img src=x onerror=alert(1)><script>alert(1)</script><!-- hidden -->',
  'www.evil.example and mailto:a@evil.example and ftp://evil.example',
  '!7 and &8 and %"v1" and ~bug and ~"needs review" and $9 and ^alert#10',
  '\u202egnp.exe\u202c in zero\u200bwidth #\u200b11 @\u2060octocat',
  '[x] [^1] [[Wiki]] [issue:12]',
  '`code` ```fence``` ``x | y``',
  '| a | b |\n|---|---|\n| c | d |',
  '# heading\n\n/close\n/assign @me\n---\n> quote\n1. one\n- item\n::include{file=x}',
]

describe('a line of foreign text', () => {
  it.each(HOSTILE)('does nothing at a host: %j', (text) => {
    const line = inline(text, 4_000)
    for (const [what, pattern] of ACTIVE) expect(line, what).not.toMatch(pattern)
    expect(line).not.toMatch(/\p{Cc}/u)
    expect(line).not.toMatch(/(^|[^\\])[|`*]/)
    expect(line).not.toMatch(/^(\/|#|-|\+|>|=|:|\d+[.)])/)
    expect(line).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
  })

  it('reads as it was written', () => {
    const shown = (text: string) =>
      inline(text, 4_000)
        .replaceAll('\u200b', '')
        .replaceAll(/\\(?=[!-/:-@[-`{-~])/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&')
    for (const text of [
      'Fixes #1 @me <b>&amp;</b> a|b [x](y) `z` *w* _v_ ~u~ $t$ \\s',
      '/close',
      '1. one',
      'snake_case_name stays',
    ])
      expect(shown(text)).toBe(text)
  })

  it('keeps ordinary prose readable', () => {
    expect(inline('Adds a bucket for the build logs (us-east-1), 50% cheaper; see modules/logs.')).toBe(
      'Adds a bucket for the build logs (us-east-1), 50% cheaper; see modules/logs.',
    )
    expect(inline('the aws_s3_bucket resource')).toBe('the aws_s3_bucket resource')
  })

  it('is cut before it is escaped, never inside of a character', () => {
    expect(inline('a|b|c|d', 4)).toBe('a\\|b…')
    expect(cut('ab😀cd', 4)).toBe('ab…')
    expect(cut('abc', 3)).toBe('abc')
    expect(inline('\ud800 alone')).toBe('\ufffd alone')
  })
})

describe('code', () => {
  it.each([
    'module.net["a.b"].aws_subnet.x[0]',
    'terraform_data.greeting (deposed object abcd1234)',
    'arn:aws:s3:::acme-logs',
    'arn:aws:sqs:eu-central-1:123456789012:invoices',
    'live/network/main.tf',
  ])('shows %s as it is', (text) => {
    expect(code(text)).toBe(`\`${text}\``)
  })

  it.each([
    'a.b["`; rm -rf"]',
    'a.b["@octocat"]',
    'a.b["x|y"]',
    'a.b["#1"]',
    'a.b["https://evil.example"]',
    'a.b["PROJ-1"]',
    'a.b["<b>"]',
  ])('shows %s as escaped text', (text) => {
    const shown = code(text)
    expect(shown).not.toMatch(/(^|[^\\])[`|]/)
    for (const [what, pattern] of ACTIVE) expect(shown, what).not.toMatch(pattern)
  })
})

describe('a title', () => {
  it('refers to nothing, also in the commit of a squash', () => {
    const title = plainTitle('Fixes #12: ping @octocat\nsee https://evil.example GH-3', 256)
    expect(title.replaceAll('\u200b', '')).toBe('Fixes #12: ping @octocat see https://evil.example GH-3')
    for (const [what, pattern] of ACTIVE) expect(title, what).not.toMatch(pattern)
  })

  it('stays untouched when there is nothing in it', () => {
    expect(plainTitle('Add a bucket for `logs`', 256)).toBe('Add a bucket for `logs`')
    expect(plainTitle('x'.repeat(300), 256)).toHaveLength(256)
    expect(plainTitle('\u200b\u2060', 256)).toBe('')
  })
})

describe('prose of a model', () => {
  it('keeps paragraphs, lists and code of one line', () => {
    expect(
      prose(
        'Adds **a** bucket.\n\n\n\n* `aws_s3_bucket.logs` for logs\n  - nested\n2) second\n\n# Why\nBecause.',
        4_000,
      ),
    ).toBe('Adds a bucket.\n\n- `aws_s3_bucket.logs` for logs\n  - nested\n2. second\n\n**Why**\nBecause.')
  })

  it.each(HOSTILE)('does nothing at a host: %j', (text) => {
    const shown = prose(text, 4_000)
    for (const [what, pattern] of ACTIVE) expect(shown, what).not.toMatch(pattern)
    expect(shown).not.toMatch(/^\s*(\/|#|>|\||---|===|::)/m)
    expect(shown).not.toContain('```')
  })

  it('opens no code that swallows what follows', () => {
    for (const text of [
      '```\nnever closed',
      '~~~\nx',
      'one ` alone',
      '<details>',
      '<!--',
      '    indented',
      '| a |\n|---|',
    ])
      expect(prose(text, 4_000)).not.toMatch(/^(`{3}|~{3}|<| {4}|\|)/m)
    expect(prose('one ` alone', 4_000)).toBe('one \\` alone')
  })

  it('stays within its limit', () => {
    for (const text of ['word '.repeat(10_000), 'line\n'.repeat(10_000), '*'.repeat(50_000), '@a'.repeat(9_000)])
      expect(prose(text, 500).length).toBeLessThanOrEqual(500)
    expect(prose('line\n'.repeat(10_000), 500)).toMatch(/…$/)
  })
})

it('a table has as many cells in each row as in its head', () => {
  expect(table(['a', 'b'], [[inline('x|y\nz'), '']])).toBe('| a | b |\n| --- | --- |\n| x\\|y z |  |')
})
