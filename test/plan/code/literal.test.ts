import { describe, expect, it } from 'vitest'
import { COMPUTED, literalIn } from '../../../src/plan/code/literal.ts'

const template = (expression: string) => `$${`{${expression}}`}`

describe('literalIn', () => {
  it('reads what jsonencode encodes, with a mark for each part that only the engine can compute', () => {
    const code = `jsonencode({
      Version = "2012-10-17" # in use since then
      Statement = [
        { Effect = "Allow", "Action" : ["s3:Get*"], Resource = [aws_s3_bucket.b.arn, "*"], Most = 2.5, Is = true, No = null },
        merge(local.rest, {}),
      ]
      Condition = { StringEquals = { "${template('local.host')}:sub" = "a" } }
      Name = "arn:aws:s3:::${template('var.name')}/*"
    })`
    expect(literalIn(code)).toEqual({
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Allow', Action: ['s3:Get*'], Resource: [COMPUTED, '*'], Most: 2.5, Is: true, No: null },
        COMPUTED,
      ],
      Condition: { StringEquals: { [COMPUTED]: 'a' } },
      Name: `arn:aws:s3:::${COMPUTED}`,
    })
  })

  it('reads a heredoc and a quoted text with a mark for each template, however deep', () => {
    const code = `<<-EOF\n  {"a": "${template(`x["${template('y')}"].arn`)}/*", "b": "$${template('z')}"}\n  EOF`
    expect(literalIn(code)).toBe(`  {"a": "${COMPUTED}/*", "b": "${template('z')}"}\n`)
    expect(literalIn(`"a-${template('b')}-c"`)).toBe(`a-${COMPUTED}-c`)
  })

  it.each([
    'local.policy',
    'data.a.b.json',
    'cond ? "a" : "b"',
    'file("a.json")',
    '"a" == var.b ? "*" : "c"',
    '',
  ])('knows nothing of %j', (code) => {
    expect(literalIn(code)).toBe(COMPUTED)
  })
})
