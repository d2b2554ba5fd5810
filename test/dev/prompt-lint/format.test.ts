import { describe, expect, test } from 'vitest'
import { findUnformatted } from '../../../dev/prompt-lint/rules.ts'

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
