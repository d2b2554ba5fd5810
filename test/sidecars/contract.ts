import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'

// biome-ignore lint/suspicious/noExplicitAny: a parsed document is walked by its keys
type Json = any

/** A sidecar contract as tests use it. */
export interface Contract {
  /** Every operation as `METHOD /path`. */
  operations: string[]
  /** Schema and examples of an operation's JSON body. */
  body(method: string, path: string): { schema: z.ZodType; examples: unknown[] }
  /** The answer is documented for the operation: status, content type, required headers, body. Returns the body. */
  expectDocumented(method: string, path: string, response: Response): Promise<Json>
}

/**
 * Reads `contracts/<name>.v1.yaml`; fails when it is no valid OpenAPI 3.1 or an example does not fit its own schema.
 */
export async function readContract(name: string): Promise<Contract> {
  const text = await readFile(`contracts/${name}.v1.yaml`, 'utf8')
  const validator = new Validator()
  expect(await validator.validate(parse(text))).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
  const { paths }: Json = validator.resolveRefs()
  const every = Object.entries<Json>(paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]) => ({ method, path, operation })),
  )
  for (const { operation } of every)
    for (const { content = {} } of [operation.requestBody ?? {}, ...Object.values<Json>(operation.responses)])
      for (const media of Object.values<Json>(content))
        for (const example of examplesOf(media))
          expect(z.fromJSONSchema(media.schema).safeParse(example).error?.issues).toBeUndefined()
  const find = (method: string, path: string) => {
    const found = every.find((each) => each.method === method.toLowerCase() && each.path === path)
    if (!found) throw new Error(`the contract has no ${method} ${path}`)
    return found.operation
  }
  return {
    operations: every.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort(),
    body(method, path) {
      const media = find(method, path).requestBody.content['application/json']
      return { schema: z.fromJSONSchema(media.schema), examples: examplesOf(media) }
    },
    async expectDocumented(method, path, response) {
      const where = `${method} ${path} ${response.status}`
      const declared = find(method, path).responses[response.status]
      expect(declared, where).toBeDefined()
      for (const [header, { required }] of Object.entries<Json>(declared.headers ?? {}))
        if (required) expect(response.headers.has(header), `${where} ${header}`).toBe(true)
      const content = await response.text()
      if (!declared.content) {
        expect(content, where).toBe('')
        return undefined
      }
      const type = response.headers.get('content-type')?.split(';')[0] ?? ''
      expect(Object.keys(declared.content), where).toContain(type)
      const body: unknown = JSON.parse(content)
      expect(
        z.fromJSONSchema(declared.content[type].schema).safeParse(body).error?.issues,
        `${where} ${content}`,
      ).toBeUndefined()
      return body
    },
  }
}

const examplesOf = (media: Json): unknown[] => [
  ...(media.example === undefined ? [] : [media.example]),
  ...Object.values<Json>(media.examples ?? {}).map(({ value }) => value),
]
