import { type RouteConfig, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { AppEnv } from '../env.ts'
import { echo, InvalidRequest, type Problem, ProblemList, SECRET_KEY } from './problem.ts'
import { NOT_JSON, readJson } from './read-body.ts'

/**
 * Checks path, query, headers and body of a request against the schemas of its route and returns their values. Header
 * names are in lower case. Throws `InvalidRequest` with the problems of all parts together, and the errors of
 * `readJson`.
 */
export async function validate(route: RouteConfig, c: Context<AppEnv>, maxBodyBytes: number) {
  const problems = new ProblemList()
  const { request } = route
  const params = request?.params && check('path', request.params, c.req.param(), problems)
  const query = request?.query && check('query', request.query, lastOfEach(c.req.queries()), problems)
  const headers = request?.headers && check('header', request.headers, c.req.header(), problems)
  const schema = bodySchema(route)
  const body = schema ? checkBody(schema, await readJson(c.req.raw, maxBodyBytes), problems) : undefined
  if (problems.count > 0) throw new InvalidRequest(problems.toList())
  return { params, query, headers, body }
}

function check(source: Source, schema: unknown, raw: unknown, problems: ProblemList): unknown {
  if (!(schema instanceof z.ZodType)) return undefined
  const result = schema.safeParse(raw)
  if (result.success) return result.data
  addIssues(problems, { source, raw, issues: result.error.issues })
  return undefined
}

function checkBody(schema: z.ZodType, raw: unknown, problems: ProblemList): unknown {
  if (raw === undefined || raw === null) {
    problems.add(() => ({ type: 'missing', loc: ['body'], msg: 'Field required', input: null }))
  } else if (raw === NOT_JSON || typeof raw !== 'object' || Array.isArray(raw)) {
    problems.add(() => ({ ...NOT_AN_OBJECT, loc: ['body'], input: null }))
  } else {
    return check('body', schema, raw, problems)
  }
  return undefined
}

function bodySchema(route: RouteConfig): z.ZodType | undefined {
  const content = route.request?.body?.content['application/json']
  return content && 'schema' in content && content.schema instanceof z.ZodType ? content.schema : undefined
}

/** Returns the query parameters. Of a repeated one the last value counts. */
const lastOfEach = (queries: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(queries).map(([name, values]) => [name, values.at(-1)]))

type Issue = z.core.$ZodIssue
type ProblemText = Pick<Problem, 'type' | 'msg' | 'ctx'>
type Source = 'path' | 'query' | 'header' | 'body'

/** Parameters of the custom issues of `fields.ts`. */
export interface CustomParams extends Record<string, unknown> {
  type: string
  ctx?: Record<string, unknown>
}

/**
 * Translates zod's issues of one part of a request, and adds them to the problems.
 * @param part.raw the validated value, in which the input of each issue is looked up
 */
function addIssues(
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
  const input = problem.type !== 'missing' && path.at(-1) === SECRET_KEY ? null : echo(subject)
  const loc = [source, ...path.map((part) => (typeof part === 'number' ? part : String(part)))]
  return { type: problem.type, loc, msg: problem.msg, input, ...(problem.ctx ? { ctx: problem.ctx } : {}) }
}

function describeIssue(issue: Issue, value: unknown): ProblemText {
  switch (issue.code) {
    case 'invalid_type':
      return WRONG_TYPES[issue.expected] ?? NOT_AN_OBJECT
    case 'invalid_value':
      return notInEnum(issue.values.map(String))
    case 'too_small':
      return EMPTY_LIST
    case 'too_big':
      return tooMany(Number(issue.maximum), value)
  }
  const params = issue.code === 'custom' ? (issue.params as CustomParams | undefined) : undefined
  return params ? { type: params.type, msg: issue.message, ctx: params.ctx } : valueError(issue.message)
}

export const valueError = (text: string) => ({ type: 'value_error', msg: `Value error, ${text}`, ctx: { error: {} } })

const WRONG_TYPES: Record<string, ProblemText> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
}
const NOT_AN_OBJECT: ProblemText = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
}

function notInEnum(values: string[]): ProblemText {
  const quoted = values.map((value) => `'${value}'`)
  const last = quoted.pop() ?? ''
  const expected = quoted.length > 0 ? `${quoted.join(', ')} or ${last}` : last
  return { type: 'enum', msg: `Input should be ${expected}`, ctx: { expected } }
}

/** Only lists have limits of zod, and no other lower limit than one entry; those of texts are in `fields.ts`. */
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
