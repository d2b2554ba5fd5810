import { describe, expect, it } from 'vitest'
import {
  addressIn,
  attributeOf,
  blocksWithin,
  readHcl,
  textOf,
  traversalsIn,
  withoutLayout,
} from '../../src/hcl/read.ts'

const headers = (code: string) => readHcl(code).body.blocks.map(({ type, labels }) => [type, ...labels].join(' '))
/** The start of a template, apart from the templates of this file. */
const open = '$' + '{'

const EXAMPLE = `# a comment with { and "
resource "google_storage_bucket" "invoices" {
  name     = "\${local.prefix}-\${var.names["in}voices"]}" // {
  location = var.region

  labels = merge(local.labels, {
    kind = "a"
  })
  condition = a == "b" ? 1 : 2
  /* } */
  lifecycle_rule {
    action { type = "Delete" }
    dynamic "condition" {
      for_each = local.rules
      content { age = condition.value }
    }
  }
  text = <<-EOT
    not = { balanced
  EOT
}

locals {}
`

describe('the tree', () => {
  it('has attributes and blocks with their places, among what would confuse a counter of brackets', () => {
    const { body, faults, complete } = readHcl(EXAMPLE)
    const [bucket] = body.blocks
    const within = [...blocksWithin(body)]
    expect({ faults, complete, attributes: body.attributes }).toEqual({ faults: [], complete: true, attributes: [] })
    expect(within.map(({ type, labels, line }) => [type, ...labels, line])).toEqual([
      ['resource', 'google_storage_bucket', 'invoices', 2],
      ['lifecycle_rule', 11],
      ['action', 12],
      ['dynamic', 'condition', 13],
      ['content', 15],
      ['locals', 23],
    ])
    expect(bucket?.body.attributes.map(({ name, line }) => [name, line])).toEqual([
      ['name', 3],
      ['location', 4],
      ['labels', 6],
      ['condition', 9],
      ['text', 18],
    ])
    const condition = bucket && attributeOf(bucket.body, 'condition')
    expect(EXAMPLE.slice(condition?.valueStart, condition?.end)).toBe('a == "b" ? 1 : 2')
    const action = within.find(({ type }) => type === 'action')
    expect(EXAMPLE.slice(action?.start, action?.end)).toBe('action { type = "Delete" }')
    expect(EXAMPLE.slice(action?.bodyStart, action?.bodyEnd)).toBe(' type = "Delete" ')
  })

  it.each([
    ['braces in strings', 'resource "a" "b" {\n  x = "}{"\n}\nresource "c" "d" {}'],
    ['escaped quotes', 'resource "a" "b" {\n  x = "\\"}"\n}\nresource "c" "d" {}'],
    ['templates', `resource "a" "b" {\n  x = "${open}lookup({ a = "}" }, "{")}"\n}\nresource "c" "d" {}`],
    ['escaped templates', `resource "a" "b" {\n  x = "$${open} %%{"\n}\nresource "c" "d" {}`],
    ['heredocs', 'resource "a" "b" {\n  x = <<-EOT\n    { [\n resource "no" "no" {\n  EOT\n}\nresource "c" "d" {}'],
    ['markers with hyphens', 'resource "a" "b" {\n  x = <<A-B\nA\n}\nA-B\n}\nresource "c" "d" {}'],
    ['comments', 'resource "a" "b" {\n  # }\n  // }\n  /* }\n } */\n}\nresource "c" "d" {}'],
    ['comments in headers', 'resource /* { */ "a" /* } */ "b" /**/ {\n  lifecycle {\n  }\n}\nresource "c" "d" {}'],
    ['blocks in blocks', 'resource "a" "b" {\n  lifecycle {\n    x = { y = 1 }\n  }\n}\nresource "c" "d" {}'],
    ['carriage returns', 'resource "a" "b" {\r\n  x = <<EOT\r\n}\r\nEOT\r\n}\r\nresource "c" "d" {\r\n}\r\n'],
    ['mixed line ends', '# one\r\n\r\nresource "a" "b" {\n  x = <<EOT\r\n}\nEOT\r\n}\nresource "c" "d" {\n}\r\n'],
    [
      'headers in comments',
      '# resource "no" "no" {\nresource "a" "b" {}\n/* resource "no" "no" {} */\nresource c d {}',
    ],
  ])('is not misled by %s', (_, code) => {
    expect(headers(code)).toEqual(['resource a b', 'resource c d'])
    expect(readHcl(code).faults).toEqual([])
  })

  it('has numbers as they are written', () => {
    const { body } = readHcl('a = 9007199254740993\n')
    expect(attributeOf(body, 'a')?.value).toEqual({ kind: 'word', word: '9007199254740993' })
  })

  it('reads names of letters outside of ASCII', () => {
    const block = 'resource "größe" größe { größe = 1 }'
    expect(headers(block)).toEqual(['resource größe größe'])
  })

  it('has texts as the engine reads them', () => {
    const { body } = readHcl(`a = "x\\u0041\\"$${open}"\nb = "${open}path.module}"\nc = 1\nd = <<E\r\nx  y\r\nE\r\n`)
    expect(['a', 'b', 'c', 'd', 'e'].map((name) => textOf(body, name))).toEqual([
      `xA"${open}`,
      null,
      null,
      'x  y\r\n',
      null,
    ])
  })
})

describe('broken code', () => {
  it.each([
    ['resource "a" "b" {\n  c = 1\n', 1, 'a block is not closed'],
    ['a = [1, 2\nb = 3\n', 1, "'[' is not closed"],
    ['x {\n  a = (1]\n}\n', 2, "']' closes nothing"],
    ['x {\n  a = "one\n}\n', 2, 'a text in quotes is not closed'],
    ['x = <<EOT\n}\n', 1, 'the heredoc EOT is not closed'],
    ['x = 1 /* {\n', 1, 'a comment is not closed'],
    ['x {\n  a =\n}\n', 2, "'a' has no value"],
    ['}\n', 1, "'}' where an argument or a block should begin"],
    ['x {\n  ...\n}\n', 2, "'.' where an argument or a block should begin"],
    ['just words\n', 1, "'just' is neither an argument nor a block"],
    ['"a" = 1\n', 1, "'a' is neither an argument nor a block"],
  ])('%j has a fault', (code, line, message) => {
    expect(readHcl(code).faults[0]).toEqual({ line, message })
  })

  it.each([
    ['a block', 'resource "a" "b" {\n  x {\n    y = 1\nresource "c" "d" {\n}\n'],
    ['a string', 'resource "a" "b" {\n  x = "y\n}\nresource "c" "d" {\n}\n'],
    ['a template', `resource "a" "b" {\n  x = "${open}y\n}\nresource "c" "d" {\n}\n`],
    ['a list', 'resource "a" "b" {\n  x = [1,\n}\nresource "c" "d" {\n}\n'],
    ['an object', 'resource "a" "b" {\n  x = { a = 1\nresource "c" "d" {\n}\n'],
    ['brackets', 'resource "a" "b" {\n  x = (1]}\n}\n}\nresource "c" "d" {\n}\n'],
  ])('keeps the blocks behind %s that is not closed', (_, code) => {
    expect(headers(code)).toEqual(['resource a b', 'resource c d'])
    expect(readHcl(code).faults).not.toEqual([])
  })

  it.each([
    `"${open}`,
    'a {',
    'a {\n',
    '/*',
    '<<A\n',
    'a = <<A\n',
    '"',
    '{',
    '[',
    '(',
    'a "b" ',
    'a(',
    '}',
    '\\',
    '"\n',
  ])('takes time and memory in proportion to the text for many %j', (part) => {
    expect(readHcl(part.repeat(20_000)).body.blocks.length).toBeLessThanOrEqual(20_000)
    // Each token is written with a blank.
    expect(withoutLayout(part.repeat(20_000)).length).toBeLessThanOrEqual(2 * part.length * 20_000)
  })

  it('stops at 500,000 tokens', () => {
    expect(readHcl('a = 1\n'.repeat(200_000))).toMatchObject({ complete: false, tokens: 500_001 })
  })
})

it.each([
  ['\n  a   = "x  #y" # why\n\n  // no\n  b = 1\n', 'a = "x  #y" b = 1'],
  ['a = <<-E\n    x:\n      y  # text\n  E\n', 'a = <<-E\n    x:\n      y  # text\nE'],
  [`a = "b ${open}  c /* d */ }  e"`, `a = "b ${open} c }  e"`],
  ['resource /* x */ "a"\t"b"   {}', 'resource "a" "b" { }'],
])('withoutLayout keeps what matters of %j', (code, expected) => {
  expect(withoutLayout(code)).toBe(expected)
})

it.each([
  ['x.a', 'x.a'],
  [' module.m["k.]v"] . x.b # now', 'module.m["k.]v"].x.b'],
  ['x.a[0]', 'x.a[0]'],
  ['x.a[each.key].b', 'x.a.b'],
  ['x.a[local.ids[0]]', 'x.a'],
  [`x.a["${open}k}"]`, 'x.a'],
  ['x.a[]', 'x.a'],
  ['x', null],
  ['x.a[0', null],
  ['x.a + 1', null],
  ['"x.a"', null],
  ['', null],
])('addressIn reads %j as %j', (code, expected) => {
  expect(addressIn(code)).toBe(expected)
})

it('traversalsIn finds names in expressions and templates, not in comments and texts', () => {
  const code = `a = data.aws_vpc.main[var.at].id # local.x\nb = "${open}module.net["k"].out} self.y"\nc = true\n`
  expect(traversalsIn(code)).toEqual([
    ['data', 'aws_vpc', 'main'],
    ['var', 'at', 'id'],
    ['module', 'net', 'out'],
  ])
})
