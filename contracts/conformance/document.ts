import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import * as v from 'valibot'
import { parse } from 'yaml'
import { isRecord, type Schema } from './schema/schema.ts'

export const CONTRACTS = ['authz', 'iac', 'mapping', 'notifications'] as const
export type ContractName = (typeof CONTRACTS)[number]

const SchemaObject = v.custom<Schema>(isRecord, 'a schema is no object')
const Media = v.pipe(
  v.object({
    schema: SchemaObject,
    example: v.optional(v.unknown()),
    examples: v.optional(v.record(v.string(), v.object({ value: v.unknown() })), {}),
  }),
  v.transform(({ schema, example, examples }) => {
    const named = Object.values(examples).map(({ value }) => value)
    return { schema, examples: example === undefined ? named : [example, ...named] }
  }),
)
const Answer = v.object({
  description: v.string(),
  headers: v.optional(
    v.record(v.string(), v.object({ required: v.optional(v.boolean(), false), schema: SchemaObject })),
    {},
  ),
  /** The schemas by content type; null when there is no body. */
  content: v.nullish(v.record(v.string(), Media), null),
})
const OpenApi = v.object({
  info: v.object({ version: v.string() }),
  paths: v.record(
    v.string(),
    v.record(
      v.string(),
      v.object({
        operationId: v.string(),
        security: v.optional(v.array(v.unknown())),
        'x-optional': v.optional(v.boolean(), false),
        requestBody: v.optional(v.object({ content: v.object({ 'application/json': Media }) })),
        responses: v.record(v.string(), Answer),
      }),
    ),
  ),
})

export type Contract = Awaited<ReturnType<typeof readContract>>
export type Operation = Contract['operations'][number]

/** Reads `contracts/<name>.v1.yaml`. Errors: it is no OpenAPI document, or one without what the suite needs. */
export async function readContract(name: ContractName) {
  const text = await readFile(new URL(`../${name}.v1.yaml`, import.meta.url), 'utf8')
  const validator = new Validator()
  const { valid, errors } = await validator.validate(parse(text))
  if (!valid) throw new Error(`contracts/${name}.v1.yaml is no OpenAPI document: ${JSON.stringify(errors)}`)
  const { info, paths } = v.parse(OpenApi, validator.resolveRefs())
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security, requestBody, responses, ...raw }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      /** The path, with its parameters as `{name}`. */
      path,
      /** False when the operation is answered without a token. */
      secured: security?.length !== 0,
      /** True when an implementation may leave it out. */
      optional: raw['x-optional'],
      /** The JSON body; null for an operation without one. */
      body: requestBody?.content['application/json'] ?? null,
      answers: responses,
    })),
  )
  return {
    name,
    version: info.version,
    operations,
    /** Returns the operation with this id. Errors: there is none. */
    operation: (id: string) => {
      const found = operations.find((each) => each.id === id)
      if (!found) throw new Error(`the contract has no operation ${id}`)
      return found
    },
  }
}
