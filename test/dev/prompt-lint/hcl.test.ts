import { describe, expect, test } from 'vitest'
import { findUnformatted } from '../../../dev/prompt-lint/format.ts'
import { blocksWithin, HclError, parseHcl } from '../../../dev/prompt-lint/hcl.ts'

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

describe('shape of code', () => {
  test('arguments and blocks, with what would confuse a counter of brackets', () => {
    const { arguments: none, blocks } = parseHcl(EXAMPLE)
    expect(none).toEqual([])
    expect(blocks.map(({ type, labels, line }) => ({ type, labels, line }))).toEqual([
      { type: 'resource', labels: ['google_storage_bucket', 'invoices'], line: 2 },
      { type: 'locals', labels: [], line: 23 },
    ])
    const [bucket] = blocks
    expect(bucket?.body.arguments.map(({ name, line }) => [name, line])).toEqual([
      ['name', 3],
      ['location', 4],
      ['labels', 6],
      ['condition', 9],
      ['text', 18],
    ])
    expect(bucket?.body.arguments.map(({ value }) => value)).toContain('a == "b" ? 1 : 2')
    expect([...blocksWithin({ arguments: [], blocks })].map(({ type }) => type)).toEqual([
      'resource',
      'lifecycle_rule',
      'action',
      'dynamic',
      'content',
      'locals',
    ])
  })

  test.each([
    ['resource "a" "b" {\n  c = 1\n', 1, 'a block is not closed'],
    ['a = [1, 2\nb = 3\n', 1, "'[' is not closed"],
    ['x {\n  a = (1]\n}\n', 2, "']' closes nothing"],
    ['x {\n  a = "one\n}\n', 2, 'a text in quotes is not closed'],
    ['x {\n  a =\n}\n', 2, "'a' has no value"],
    ['}\n', 1, "'}' where an argument or a block should begin"],
    ['x {\n  ...\n}\n', 2, "'.' where an argument or a block should begin"],
    ['just words\n', 1, "'just' is neither an argument nor a block"],
  ])('%j is refused', (code, line, message) => {
    expect(() => parseHcl(code)).toThrow(expect.objectContaining({ line, message }))
    expect(() => parseHcl(code)).toThrow(HclError)
  })
})

describe('format', () => {
  test('formatted code has no complaint', () => {
    const code = [
      'resource "a" "b" {',
      '  name      = "x"',
      '  long_name = "{"',
      '  tags = {',
      '    a  = 1',
      '    bb = 2',
      '  }',
      '  list = [for one in two : {',
      '    id = one',
      '  }]',
      '',
      '  block {',
      '    x = y == 1',
      '  }',
      '}',
    ].join('\n')
    expect(findUnformatted(code)).toEqual([])
  })

  test.each([
    ['x {\n a = 1\n}', 2, 'is not indented by 2'],
    ['x {\n\ta = 1\n}', 2, 'has a tab'],
    ['x {\n  a = 1 \n}', 2, 'ends with a blank'],
    ['x {\n  a = 1\n  bb = 2\n}', 2, 'has its equals sign in another column'],
    ['x {\n  a  = 1\n}', 2, 'has its equals sign in another column'],
    ['x {\n  bb = {\n  }\n  a  = {\n  }\n}', 4, 'has its equals sign in another column'],
    ['x {\n  a = 1\n  }', 3, 'is not indented by 0'],
  ])('%j', (code, line, message) => {
    expect(findUnformatted(code)).toContainEqual({ line, message })
  })
})
