import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { calls, STREAMS } from '../../../../console/client/api/client.ts'
import { createTestCore, type TestCore } from '../../../helpers/core.ts'

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: object }> }>
  security?: object[]
}

let core: TestCore
let paths: Record<string, Record<string, Operation>>
let schemas: Record<string, object>
beforeAll(async () => {
  core = await createTestCore()
  const description = await (await core.call('GET', '/api/openapi.json')).json()
  paths = description.paths
  schemas = description.components.schemas
})
afterAll(() => core.close())

/** Finds an operation, with or without the prefix of the server. */
const operation = (method: string, path: string): Operation | undefined =>
  (paths[`/v1${path}`] ?? paths[`/api/v1${path}`])?.[method.toLowerCase()]

describe('the calls of the console are those of the published description', () => {
  it.each(Object.entries(calls))('%s', (_, { method, path, answer }) => {
    const found = operation(method, path)
    expect(found).toBeDefined()
    const [status, ...others] = Object.entries(found?.responses ?? {}).filter(([code]) => code.startsWith('2'))
    expect(others).toEqual([])
    const schema = status?.[1].content?.['application/json']?.schema
    expect(schema).toEqual(answer === null ? undefined : { $ref: `#/components/schemas/${answer}` })
    if (answer !== null) expect(Object.keys(schemas)).toContain(answer)
  })

  it.each(Object.entries(STREAMS))('the stream %s', (_, path) => {
    expect(Object.keys(operation('GET', path)?.responses[200]?.content ?? {})).toEqual(['text/event-stream'])
  })
})
