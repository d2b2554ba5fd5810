import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkAnswer, type DescribedOperation, DOCUMENT, type Schema } from '../../helpers/described.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { bodyOf, described, headers, headerText, poisonText, spoiled } from './inputs.ts'
import { holds, SEED } from './settings.ts'
import { createWorld } from './world.ts'

interface Parameter {
  name: string
  in: 'path' | 'query'
  schema: Schema
}
type Operation = DescribedOperation & { parameters?: Parameter[] }
const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
    method.toUpperCase(),
    path,
    operation,
  ]),
)
const ANSWER_LIMIT_MS = 20_000

const world = startOnce(() => createWorld(SEED))

const resolve = (name: string): Schema => DOCUMENT.components.schemas[name] ?? {}
const schemaOf = (schema: Schema) => described(schema, world.known, resolve)

interface Input {
  caller: string
  path: Record<string, string>
  query: [string, string][]
  body: { bytes: Uint8Array<ArrayBuffer>; type: string | null } | null
  headers: Record<string, string>
}

function inputOf(operation: Operation): fc.Arbitrary<Input> {
  const { parameters = [] } = operation
  const of = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place)
  const value = ({ schema }: Parameter) =>
    fc.oneof(
      { weight: 4, arbitrary: schemaOf(schema).map(String) },
      poisonText,
      fc.string({ maxLength: 40, unit: 'binary' }),
    )
  const query = fc.array(
    fc.oneof(
      ...of('query').map((one) => fc.tuple(fc.constant(one.name), value(one))),
      fc.tuple(poisonText, poisonText),
    ),
    { maxLength: 6 },
  )
  const schema = operation.requestBody?.content['application/json']?.schema
  const callers = Object.keys(world.callers)
  return fc.record({
    caller: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('admin', 'devops', 'developer') },
      fc.constantFrom(...callers),
    ),
    path: fc.record(Object.fromEntries(of('path').map((one) => [one.name, value(one)]))),
    query,
    body: schema ? bodyOf(spoiled(schemaOf(schema))) : fc.constant(null),
    headers: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, headers),
  })
}

function toRequest(method: string, template: string, input: Input): Request {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent((input.path[name] ?? '').toWellFormed()),
  )
  const query = new URLSearchParams(input.query.map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]))
  const sent = new Headers()
  for (const [name, value] of Object.entries(input.headers)) sent.set(name, headerText(value))
  const authorization = world.callers[input.caller]
  if (authorization) sent.set('authorization', authorization)
  if (input.body?.type) sent.set('content-type', input.body.type)
  return new Request(`http://core.test/api${path}?${query}`, {
    method,
    headers: sent,
    ...(input.body ? { body: input.body.bytes } : {}),
  })
}

/** Checks that any input gets an answer in time, as described, and never an unexpected fault. */
async function check(method: string, template: string, input: Input): Promise<void> {
  const request = toRequest(method, template, input)
  const { pathname } = new URL(request.url)
  const faults = world.core.log.length
  const answer = await inTime(world.core.app.fetch(request))
  await checkAnswer(method, pathname, answer)
  if (answer.status >= 500) {
    const said = `${answer.status} ${await answer.clone().text()} ${JSON.stringify(world.core.log.slice(faults))}`
    expect(said).not.toContain('Internal Server Error')
    expect([500, 502, 503, 504]).toContain(answer.status)
  }
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) await readFirst(answer)
  else await inTime(answer.arrayBuffer())
  world.core.log.length = 0
}

async function readFirst(answer: Response): Promise<void> {
  const reader = answer.body?.getReader()
  const first = await inTime(reader?.read() ?? Promise.reject(new Error('a stream without a body')))
  expect(new TextDecoder().decode(first.value)).toContain(': keepalive')
  await reader?.cancel()
}

async function inTime<T>(work: T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_LIMIT_MS} ms`)), ANSWER_LIMIT_MS)
  })
  return Promise.race([work, limit]).finally(() => clearTimeout(timer))
}

describe('every route answers as described, whatever is sent', () => {
  it.each(OPERATIONS)('%s %s', async (method, template, operation) => {
    const share = 0.9 / OPERATIONS.length
    await holds(`${method} ${template}`, share, inputOf(operation), (input) => check(method, template, input))
  })

  it('any method on any path', async () => {
    const part = fc.oneof(
      fc.constantFrom('api', 'v1', 'sessions', 'list', 'docs', 'assets', 'admin', 'users', 'healthz', '..', '.', ''),
      poisonText,
    )
    const input = fc.record({
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'BREW', 'PROPFIND'),
      parts: fc.array(part, { maxLength: 6 }),
      headers,
      caller: fc.constantFrom(...Object.keys(world.callers)),
    })
    await holds('any method on any path', 0.08, input, async ({ method, parts, headers: sent, caller }) => {
      const path = parts.map((one) => encodeURIComponent(one.toWellFormed())).join('/')
      const authorization = world.callers[caller]
      const init = { method, headers: { ...sent, ...(authorization ? { authorization } : {}) } }
      const answer = await inTime(world.core.app.request(`/${path}`, init))
      expect(answer.status, await answer.clone().text()).toBeLessThan(500)
      await answer.body?.cancel()
    })
  })
})
