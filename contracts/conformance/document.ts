import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { parse } from 'yaml'
import type { Schema } from './schema/types.ts'

export const CONTRACTS = ['authz', 'iac', 'mapping', 'notifications'] as const
export type ContractName = (typeof CONTRACTS)[number]

export interface Media {
  schema: Schema
  examples: unknown[]
}
export interface Answer {
  description: string
  headers: Record<string, { required: boolean; schema: Schema }>
  /** The schemas by content type; null when there is no body. */
  content: Record<string, Media> | null
}
export interface Operation {
  id: string
  method: string
  /** The path, with its parameters as `{name}`. */
  path: string
  /** False when the operation is answered without a token. */
  secured: boolean
  /** True when an implementation may leave it out (`x-optional`). */
  optional: boolean
  /** The JSON body; null for an operation without one. */
  body: Media | null
  answers: Record<string, Answer>
}
export interface Contract {
  name: ContractName
  version: string
  operations: Operation[]
  /** Returns the operation with this id. Errors: there is none. */
  operation(id: string): Operation
}

interface RawMedia {
  schema: Schema
  example?: unknown
  examples?: Record<string, { value: unknown }>
}
interface RawOperation {
  operationId: string
  security?: unknown[]
  'x-optional'?: boolean
  requestBody?: { content: { 'application/json': RawMedia } }
  responses: Record<
    string,
    {
      description: string
      headers?: Record<string, { required?: boolean; schema: Schema }>
      content?: Record<string, RawMedia>
    }
  >
}
interface RawDocument {
  info: { version: string }
  paths: Record<string, Record<string, RawOperation>>
}

/** Reads `contracts/<name>.v1.yaml`. Errors: it is no OpenAPI document. */
export async function readContract(name: ContractName): Promise<Contract> {
  const text = await readFile(new URL(`../${name}.v1.yaml`, import.meta.url), 'utf8')
  const validator = new Validator()
  const { valid, errors } = await validator.validate(parse(text))
  if (!valid) throw new Error(`contracts/${name}.v1.yaml is no OpenAPI document: ${JSON.stringify(errors)}`)
  const document = validator.resolveRefs() as unknown as RawDocument
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(method.toUpperCase(), path, operation)),
  )
  return {
    name,
    version: document.info.version,
    operations,
    operation: (id) => {
      const found = operations.find((each) => each.id === id)
      if (!found) throw new Error(`the contract has no operation ${id}`)
      return found
    },
  }
}

function operationOf(method: string, path: string, raw: RawOperation): Operation {
  const body = raw.requestBody?.content['application/json']
  return {
    id: raw.operationId,
    method,
    path,
    secured: raw.security?.length !== 0,
    optional: raw['x-optional'] === true,
    body: body ? mediaOf(body) : null,
    answers: Object.fromEntries(
      Object.entries(raw.responses).map(([status, { description, headers = {}, content }]) => [
        status,
        {
          description,
          headers: Object.fromEntries(
            Object.entries(headers).map(([header, { required = false, schema }]) => [header, { required, schema }]),
          ),
          content: content
            ? Object.fromEntries(Object.entries(content).map(([type, media]) => [type, mediaOf(media)]))
            : null,
        },
      ]),
    ),
  }
}

function mediaOf({ schema, example, examples = {} }: RawMedia): Media {
  const named = Object.values(examples).map(({ value }) => value)
  return { schema: schema, examples: example === undefined ? named : [example, ...named] }
}
