import type { RouteConfig } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { AppEnv } from '../env.ts'
import { addIssues, NOT_AN_OBJECT, type Source } from './from-zod.ts'
import { InvalidRequest, ProblemList } from './problem.ts'
import { NOT_JSON, readJson } from './read-body.ts'

/**
 * Checks path, query, headers and body of a request against the schemas of its route and returns their values. Header
 * names are in lower case. Throws `InvalidRequest` with the problems of all parts together, and the errors of
 * `readJson`.
 */
export async function validate(
  route: RouteConfig,
  c: Context<AppEnv>,
  maxBodyBytes: number,
): Promise<{ params: unknown; query: unknown; headers: unknown; body: unknown }> {
  const problems = new ProblemList()
  const params = check('path', route.request?.params, c.req.param(), problems)
  const query = check('query', route.request?.query, lastOfEach(c.req.queries()), problems)
  const headers = check('header', route.request?.headers, c.req.header(), problems)
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
