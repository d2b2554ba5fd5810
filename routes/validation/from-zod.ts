import type { z } from '@hono/zod-openapi'
import { echo, isSecretKey } from './echo.ts'
import type { Problem, ProblemList } from './problem.ts'

type Issue = z.core.$ZodIssue
type ProblemText = Pick<Problem, 'type' | 'msg' | 'ctx'>
export type Source = 'path' | 'query' | 'header' | 'body'

/** Parameters of the custom issues of `fields.ts`. */
export interface CustomParams extends Record<string, unknown> {
  type: string
  ctx?: Record<string, unknown>
}

/**
 * Translates zod's issues of one part of a request, and adds them to the problems.
 * @param part.raw the validated value, in which the input of each issue is looked up
 */
export function addIssues(
  problems: ProblemList,
  { source, raw, issues }: { source: Source; raw: unknown; issues: readonly Issue[] },
): void {
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) problems.add(() => entry(source, raw, [...issue.path, key], UNKNOWN_KEY))
      continue
    }
    problems.add(() => {
      const value = valueAt(raw, issue.path)
      return entry(source, raw, issue.path, value === undefined ? MISSING : describeIssue(issue, value))
    })
  }
}

const UNKNOWN_KEY: ProblemText = { type: 'extra_forbidden', msg: 'Extra inputs are not permitted' }
const MISSING: ProblemText = { type: 'missing', msg: 'Field required' }

/** Makes one entry of the response. Its `input` is the value of a wrong key, or the object that lacks the key. */
function entry(source: Source, raw: unknown, path: readonly PropertyKey[], problem: ProblemText): Problem {
  const subject = problem.type === 'missing' ? valueAt(raw, path.slice(0, -1)) : valueAt(raw, path)
  const input = problem.type !== 'missing' && isSecretKey(path.at(-1)) ? null : echo(subject)
  const loc = [source, ...path.map((part) => (typeof part === 'number' ? part : String(part)))]
  return { type: problem.type, loc, msg: problem.msg, input, ...(problem.ctx ? { ctx: problem.ctx } : {}) }
}

function describeIssue(issue: Issue, value: unknown): ProblemText {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue.expected)
    case 'invalid_value':
      return notInEnum(issue.values.map(String))
    case 'too_small':
      return issue.origin === 'array' ? EMPTY_LIST : tooSmall(issue.origin, Number(issue.minimum))
    case 'too_big':
      return issue.origin === 'array'
        ? tooMany(Number(issue.maximum), value)
        : tooBig(issue.origin, Number(issue.maximum))
    case 'custom': {
      const params = issue.params as CustomParams | undefined
      if (params) return { type: params.type, msg: issue.message, ctx: params.ctx }
      return valueError(issue.message)
    }
    default:
      return valueError(issue.message)
  }
}

export const valueError = (text: string): ProblemText => ({
  type: 'value_error',
  msg: `Value error, ${text}`,
  ctx: { error: {} },
})

const WRONG_TYPES: Record<string, ProblemText> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  number: { type: 'int_type', msg: 'Input should be a valid integer' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
}
export const NOT_AN_OBJECT: ProblemText = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
}
const wrongType = (expected: string): ProblemText => WRONG_TYPES[expected] ?? NOT_AN_OBJECT

function notInEnum(values: string[]): ProblemText {
  const quoted = values.map((value) => `'${value}'`)
  const last = quoted.pop() ?? ''
  const expected = quoted.length > 0 ? `${quoted.join(', ')} or ${last}` : last
  return { type: 'enum', msg: `Input should be ${expected}`, ctx: { expected } }
}

const characters = (count: number) => `${count} character${count === 1 ? '' : 's'}`

function tooSmall(origin: string, minimum: number): ProblemText {
  return origin === 'string'
    ? {
        type: 'string_too_short',
        msg: `String should have at least ${characters(minimum)}`,
        ctx: { min_length: minimum },
      }
    : { type: 'greater_than_equal', msg: `Input should be greater than or equal to ${minimum}`, ctx: { ge: minimum } }
}

function tooBig(origin: string, maximum: number): ProblemText {
  return origin === 'string'
    ? {
        type: 'string_too_long',
        msg: `String should have at most ${characters(maximum)}`,
        ctx: { max_length: maximum },
      }
    : { type: 'less_than_equal', msg: `Input should be less than or equal to ${maximum}`, ctx: { le: maximum } }
}

/** No list of a request has another lower limit than one entry. */
const EMPTY_LIST: ProblemText = {
  type: 'too_short',
  msg: 'List should have at least 1 item after validation, not 0',
  ctx: { field_type: 'List', min_length: 1, actual_length: 0 },
}

function tooMany(maxLength: number, value: unknown): ProblemText {
  const actualLength = Array.isArray(value) ? value.length : 0
  const msg = `List should have at most ${maxLength} items after validation, not ${actualLength}`
  return { type: 'too_long', msg, ctx: { field_type: 'List', max_length: maxLength, actual_length: actualLength } }
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = Reflect.get(value, part)
  }
  return value
}
