import { describe, expect, it } from 'vitest'
import { readAttributes, readCodeBlocks, withoutComments } from '../../../src/plan/code/blocks.ts'

const headers = (code: string) => readCodeBlocks(code).map(({ kind, labels }) => [kind, ...labels].join(' '))

describe('readCodeBlocks', () => {
  it.each([
    ['braces in strings', 'resource "a" "b" {\n  x = "}{"\n}\nresource "c" "d" {}'],
    ['escaped quotes', 'resource "a" "b" {\n  x = "\\"}"\n}\nresource "c" "d" {}'],
    [
      'templates with strings and braces',
      `resource "a" "b" {\n  x = "\${lookup({ a = "}" }, "{")}"\n}\nresource "c" "d" {}`,
    ],
    ['escaped templates', `resource "a" "b" {\n  x = "$\${"\n}\nresource "c" "d" {}`],
    [
      'heredocs',
      'resource "a" "b" {\n  x = <<-EOT\n    { "not": [\n    resource "no" "no" {\n  EOT\n}\nresource "c" "d" {}',
    ],
    ['comments', 'resource "a" "b" {\n  # }\n  // }\n  /* }\n } */\n}\nresource "c" "d" {}'],
    ['blocks in blocks', 'resource "a" "b" {\n  lifecycle {\n    x = { y = 1 }\n  }\n}\nresource "c" "d" {}'],
    ['carriage returns', 'resource "a" "b" {\r\n  x = <<EOT\r\n}\r\nEOT\r\n}\r\nresource "c" "d" {\r\n}\r\n'],
    [
      'headers in comments',
      '# resource "no" "no" {\nresource "a" "b" {}\n/* resource "no" "no" {} */\nresource c d {}',
    ],
  ])('is not misled by %s', (_, code) => {
    expect(headers(code)).toEqual(['resource a b', 'resource c d'])
  })

  it('reads blocks without labels, indented and unfinished ones', () => {
    expect(headers('locals {\n}\n  moved {\n}\nmodule "m" {\n  source = "./m"')).toEqual([
      'locals',
      'moved',
      'module m',
    ])
  })

  it('takes time in proportion to the text, whatever that is', () => {
    for (const part of ['"${', 'a {', '/*', '<<A\n', '"', '{', 'a "b" '])
      expect(readCodeBlocks(part.repeat(20_000)).length).toBeLessThanOrEqual(20_000)
  })
})

describe('readAttributes', () => {
  it('reads expressions over several lines, and nothing of blocks inside', () => {
    const body = '\n  a = 1 # one\n  b = [\n    2,\n  ]\n  inner {\n    a = 3\n  }\n  c == d\n  e = x["k"].y'
    expect([...readAttributes(body)]).toEqual([
      ['a', '1'],
      ['b', '[ 2, ]'],
      ['e', 'x["k"].y'],
    ])
  })
})

it('withoutComments keeps what is said and drops layout', () => {
  expect(withoutComments('\n  a   = "x  #y" # why\n\n  // no\n  b = 1\n')).toBe('a = "x  #y" b = 1')
})
