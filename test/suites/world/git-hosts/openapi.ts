import { createRequire } from 'node:module'
import { join } from 'node:path'

// biome-ignore lint/suspicious/noExplicitAny: documents of three vendors in two versions of the language are walked
export type Loose = any

/** A request and its answer, as they went over the wire. */
export interface Exchange {
  method: string
  /** Decoded path below the address of the interface, without the query. */
  segments: string[]
  query: Record<string, string>
  body: unknown
  status: number
  answer: unknown
}

/** Reads what came back from `fetch` beside what was sent; `base` is the address of the interface. */
export async function exchangeOf(base: string, request: Request, response: Response): Promise<Exchange> {
  const url = new URL(request.url)
  const path = url.pathname.slice(new URL(base).pathname.replace(/\/$/, '').length)
  const [sent, answered] = [await request.clone().text(), await response.clone().text()]
  return {
    method: request.method.toLowerCase(),
    segments: path.split('/').slice(1).map(decodeURIComponent),
    query: Object.fromEntries(url.searchParams),
    body: sent === '' ? undefined : JSON.parse(sent),
    status: response.status,
    answer: answered === '' ? undefined : JSON.parse(answered),
  }
}

/**
 * Checks exchanges against a published interface (OpenAPI 3 or Swagger 2). An answer may leave fields out, because a
 * fake says only what is read; what it says must be known and of the documented form.
 */
export function createChecker(document: Loose) {
  const require = createRequire(join(process.env.GIT_HOSTS ?? '', 'package.json'))
  const { Ajv } = require('ajv') as { Ajv: new (options: object) => Loose }
  const addFormats = require('ajv-formats').default as (ajv: Loose) => void
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false })
  addFormats(ajv)
  const resolve = (node: Loose): Loose =>
    node?.$ref
      ? resolve(
          node.$ref
            .slice(2)
            .split('/')
            .reduce((at: Loose, key: string) => at[key], document),
        )
      : node

  /** A schema as JSON schema: references replaced to a depth that answers have, `nullable` spelled out. */
  const plain = (node: Loose, strict: boolean, depth = 0): Loose => {
    if (Array.isArray(node)) return node.map((item) => plain(item, strict, depth))
    if (typeof node !== 'object' || node === null) return node
    if (depth > 24) return {}
    const { nullable, required, example: _, ...rest } = resolve(node)
    const schema = Object.fromEntries(
      Object.entries(rest).map(([key, value]) => [key, plain(value, strict, depth + 1)]),
    ) as Loose
    if (Array.isArray(required) && strict) schema.required = required
    if (nullable && schema.type) return { anyOf: [schema, { type: 'null' }] }
    return schema
  }
  const complaints = (schema: Loose, value: unknown, strict: boolean): string[] => {
    if (!schema) return []
    const check = ajv.compile(plain(schema, strict))
    if (check(value)) return []
    return check.errors.map(
      ({ instancePath, message, params }: Loose) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }
  const find = ({ method, segments }: Exchange): Loose => {
    const fits = (path: string) => {
      const parts = path.split('/').slice(1)
      return parts.length === segments.length && parts.every((part, at) => /^\{/.test(part) || same(part, segments[at]))
    }
    const path = Object.keys(document.paths).find((candidate) => fits(candidate) && document.paths[candidate][method])
    return path && { ...document.paths[path][method], common: document.paths[path].parameters ?? [] }
  }
  const bodyOf = (operation: Loose, parameters: Loose[]) =>
    resolve(operation.requestBody)?.content?.['application/json']?.schema ??
    parameters.find((parameter) => parameter.in === 'body')?.schema
  const answerOf = (operation: Loose, status: number) => {
    const response = resolve(operation.responses[status] ?? operation.responses.default)
    return response && (response.content?.['application/json']?.schema ?? response.schema ?? {})
  }

  return (exchange: Exchange): string[] => {
    const operation = find(exchange)
    if (!operation) return [`no operation ${exchange.method} /${exchange.segments.join('/')}`]
    const parameters: Loose[] = [...operation.common, ...(operation.parameters ?? [])].map(resolve)
    const query = parameters.filter((parameter) => parameter.in === 'query')
    const body = bodyOf(operation, parameters)
    const answer = answerOf(operation, exchange.status)
    return [
      ...Object.keys(exchange.query)
        .filter((name) => !query.some((parameter) => parameter.name === name))
        .map((name) => `query ${name} is unknown`),
      ...query
        .filter(({ name, required }) => required && !(name in exchange.query))
        .map(({ name }) => `query ${name} is missing`),
      ...(exchange.body === undefined ? [] : complaints(body, exchange.body, true).map((text) => `request${text}`)),
      ...(exchange.body === undefined ? [] : unknownFields(plain(body, true), exchange.body, 'request')),
      ...(answer ? [] : [`no answer ${exchange.status} is documented`]),
      ...(exchange.answer === undefined
        ? []
        : complaints(answer, exchange.answer, false).map((text) => `answer${text}`)),
      ...(exchange.answer === undefined ? [] : unknownFields(plain(answer ?? {}, false), exchange.answer, 'answer')),
    ]
  }
}

const same = (a: string, b: string | undefined) => a.toLowerCase() === b?.toLowerCase()

/** Fields of a value that its schema does not name, where it names any. */
function unknownFields(schema: Loose, value: Loose, path: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value))
    return value.flatMap((item, at) => unknownFields(schema?.items ?? {}, item, `${path}[${at}]`))
  const branches = [schema, ...(schema?.anyOf ?? []), ...(schema?.oneOf ?? []), ...(schema?.allOf ?? [])]
  const known = Object.assign({}, ...branches.map((branch: Loose) => branch?.properties ?? {})) as Record<string, Loose>
  if (Object.keys(known).length === 0) return []
  return Object.keys(value).flatMap((key) =>
    known[key] ? unknownFields(known[key], value[key], `${path}.${key}`) : [`${path}.${key} is unknown`],
  )
}
