import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import { parse } from 'yaml'

const ROOT = new URL('../../../', import.meta.url)
export const readShipped = (path: string): Promise<string> => readFile(new URL(path, ROOT), 'utf8')

const texts = v.array(v.string())
const command = v.optional(v.union([v.string(), texts]))

/** The checked keys of a service. A new key has to be listed and checked before it is allowed. */
const serviceSchema = v.strictObject({
  image: v.string(),
  build: v.optional(v.strictObject({ context: v.literal('.'), target: v.string() })),
  pull_policy: v.optional(v.string()),
  user: v.string(),
  entrypoint: command,
  command,
  environment: v.optional(v.record(v.string(), v.nullable(v.string()))),
  init: v.literal(true),
  restart: v.string(),
  read_only: v.literal(true),
  cap_drop: v.tuple([v.literal('ALL')]),
  security_opt: texts,
  devices: v.optional(texts),
  networks: texts,
  ports: v.optional(texts, []),
  tmpfs: texts,
  volumes: v.optional(texts, []),
  depends_on: v.optional(v.record(v.string(), v.unknown())),
  healthcheck: v.optional(v.looseObject({ test: texts })),
  stop_grace_period: v.optional(v.string()),
  profiles: v.optional(texts),
})
const composeSchema = v.looseObject({
  services: v.record(v.string(), serviceSchema),
  networks: v.record(v.string(), v.nullable(v.looseObject({ internal: v.optional(v.boolean()) }))),
  volumes: v.record(v.string(), v.null()),
})
export type ComposeFile = v.InferOutput<typeof composeSchema>
export type ComposeService = ComposeFile['services'][string]

/** Reads a compose file. Errors: a service without a required key, or with an unknown one. */
export const readCompose = (text: string): ComposeFile => v.parse(composeSchema, parse(text, { merge: true }))
