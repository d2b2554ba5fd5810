import { describe, expect, it } from 'vitest'
import { checkAnswer, DOCUMENT, validator } from './described.ts'

const USER = { id: 1, email: null, display_name: null, operation_role: 'developer', panel_role: null }
const check = (body: unknown, status = 200, path = '/api/v1/users/me') =>
  checkAnswer('GET', path, Response.json(body, { status }))

describe('the check against the description', () => {
  it('lets pass what is described, on both prefixes', async () => {
    await check(USER)
    await check({ ...USER, email: 'a@b', panel_role: 'viewer' }, 200, '/v1/users/me')
    await check({ detail: 'Not authenticated' }, 401)
    await check({ anything: 1 }, 404, '/api/v1/nope')
  })

  it.each([
    ['a further key', { ...USER, subject: 's' }, 200],
    ['a missing key', { ...USER, panel_role: undefined }, 200],
    ['another type', { ...USER, id: '1' }, 200],
    ['a value outside of its list', { ...USER, panel_role: 'root' }, 200],
    ['another envelope', { error: 'x' }, 401],
    ['another status', { detail: 'x' }, 418],
  ])('does not let pass %s', async (_, body, status) => {
    await expect(check(body, status)).rejects.toThrow('described')
  })

  it('does not let pass another content type, nor a body where there is none', async () => {
    await expect(
      checkAnswer('GET', '/v1/users/me', new Response('x', { headers: { 'content-type': 'text/plain' } })),
    ).rejects.toThrow()
    await expect(checkAnswer('GET', '/v1/users/me', new Response(null))).rejects.toThrow()
    const merge = '/v1/repository/pr/merge'
    await checkAnswer('PUT', merge, new Response(null, { status: 204 }))
    await expect(
      checkAnswer('PUT', merge, new Response('x', { status: 200, headers: { 'content-type': 'text/plain' } })),
    ).rejects.toThrow()
  })
})

it('holds the examples of the description themselves', () => {
  for (const [path, methods] of Object.entries(DOCUMENT.paths))
    for (const [method, { responses, requestBody }] of Object.entries(methods)) {
      const contents = [...Object.values(responses).map(({ content }) => content), requestBody?.content]
      for (const [type, described] of contents.flatMap((content) => Object.entries(content ?? {}))) {
        const { schema, example, examples } = described as {
          schema: Record<string, unknown>
          example?: unknown
          examples?: object
        }
        const name = `${method} ${path} ${JSON.stringify(schema)}`
        const values: { value: unknown }[] = Object.values(examples ?? {})
        const named = DOCUMENT.components.schemas[String(schema.$ref).split('/').at(-1) ?? '']?.example
        const given = [...values.map(({ value }) => value), ...[example, named].filter((value) => value !== undefined)]
        expect(given.length, name).toBeGreaterThan(0)
        const isStream = type === 'text/event-stream'
        for (const value of isStream ? given.flatMap(eventsOf) : given) {
          expect(validator(schema).safeParse(value), name).toMatchObject({ success: true })
          if (!isStream) continue
          const { contentSchema } = (schema.properties as { data: { contentSchema: Record<string, unknown> } }).data
          const data = JSON.parse((value as { data: string }).data)
          expect(validator(contentSchema).safeParse(data), name).toMatchObject({ success: true })
        }
      }
    }
})

/** Parses the events in a stream's example, as a client of such streams does. */
function eventsOf(text: unknown): Record<string, string>[] {
  const frames = String(text)
    .split('\n\n')
    .filter((frame) => frame !== '' && !frame.startsWith(':'))
  expect(frames).not.toHaveLength(0)
  return frames.map((frame) =>
    Object.fromEntries(frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.replace(/^\w+: /, '')])),
  )
}
