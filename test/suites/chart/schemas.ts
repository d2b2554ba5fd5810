import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KUBERNETES } from '../world/kubernetes/build.ts'
import { readDefinitions, type Schema, sourcesOfDefinitions } from './definitions.ts'
import { moduleFolder } from './modules.ts'

interface Kind {
  group: string
  kind: string
  version: string
}

/**
 * Writes a strict JSON schema for each kind into the cache, and returns their folder: of Kubernetes from the description
 * of its API, of others from their definitions. Nothing is fetched from a host of schemas.
 * @throws Unavailable without Go or a module
 */
export async function writeSchemas(cache: string): Promise<string> {
  const mark = [`kubernetes ${KUBERNETES}`, ...sourcesOfDefinitions()].join('-').replaceAll(/[^A-Za-z0-9.]+/g, '-')
  const folder = join(cache, `schemas-${mark}`)
  if (await stat(folder).catch(() => null)) return folder
  const made = await mkdtemp(join(cache, '.schemas-'))
  try {
    for (const [kind, schema] of [...(await readOwnKinds()), ...(await readOtherKinds())])
      await writeFile(join(made, fileOf(kind)), JSON.stringify(schema))
    await rename(made, folder).catch(async (error: NodeJS.ErrnoException) => {
      // Another process was faster.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
    return folder
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

/** Where kubeconform looks for a schema, below the folder. */
export const LOCATION = '{{.Group}}-{{.ResourceAPIVersion}}-{{.ResourceKind}}.json'

// It calls the group of the oldest kinds by their version.
const fileOf = ({ group, version, kind }: Kind) => `${group || version}-${version}-${kind.toLowerCase()}.json`

interface Described {
  definitions: Record<string, Schema & { 'x-kubernetes-group-version-kind'?: Kind[] }>
}

const GROUPS = ['', 'apps', 'autoscaling', 'networking.k8s.io', 'policy']

async function readOwnKinds(): Promise<[Kind, Schema][]> {
  const folder = await moduleFolder('k8s.io/kubernetes', `v${KUBERNETES}`)
  const { definitions } = JSON.parse(await readFile(join(folder, 'api/openapi-spec/swagger.json'), 'utf8')) as Described
  return Object.entries(definitions).flatMap(([name, definition]) =>
    (definition['x-kubernetes-group-version-kind'] ?? [])
      .filter(({ group, kind }) => GROUPS.includes(group) && !/List$|Options$|^Status$|^WatchEvent$/.test(kind))
      .map((kind): [Kind, Schema] => [kind, standAlone(name, definitions)]),
  )
}

async function readOtherKinds(): Promise<[Kind, Schema][]> {
  return (await readDefinitions()).flatMap(({ spec }) =>
    spec.versions.map(({ name, schema }): [Kind, Schema] => [
      { group: spec.group, version: name, kind: spec.names.kind },
      // The server adds these to every kind.
      strict({
        ...schema.openAPIV3Schema,
        properties: {
          ...(schema.openAPIV3Schema.properties as Schema),
          metadata: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      }) as Schema,
    ]),
  )
}

/** A definition with everything that it refers to. */
function standAlone(name: string, definitions: Described['definitions']): Schema {
  const used: Record<string, Schema> = {}
  const add = (each: string): void => {
    if (each in used) return
    used[each] = strict(definitions[each] ?? {}) as Schema
    for (const [, found = ''] of JSON.stringify(used[each]).matchAll(/"#\/definitions\/([^"]+)"/g)) add(found)
  }
  add(name)
  return { $schema: 'http://json-schema.org/draft-07/schema#', $ref: `#/definitions/${name}`, definitions: used }
}

/** Numbers where Kubernetes takes text and numbers. */
const NUMBER_OR_TEXT = { anyOf: [{ type: 'string' }, { type: 'number' }] }
const FREE = new Set([
  'io.k8s.apimachinery.pkg.api.resource.Quantity',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
])

/** The schema in the form of JSON Schema; an object takes no other properties than those that it lists. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict)
  if (typeof schema !== 'object' || schema === null) return schema
  const given = schema as Schema
  if (given.format === 'int-or-string' || given['x-kubernetes-int-or-string'] === true) return NUMBER_OR_TEXT
  if (typeof given.$ref === 'string' && FREE.has(given.$ref.replace('#/definitions/', ''))) return NUMBER_OR_TEXT
  const made: Schema = {}
  for (const [key, value] of Object.entries(given)) {
    // Texts for people; formats of Go that mean nothing here.
    if (['description', 'format'].includes(key) && typeof value === 'string') continue
    if (key === 'properties') made[key] = mapValues(value as Schema, strict)
    else made[key] = strict(value)
  }
  const isClosed = 'properties' in made && !('additionalProperties' in made)
  if (isClosed && given['x-kubernetes-preserve-unknown-fields'] !== true) made.additionalProperties = false
  return made
}

const mapValues = (object: Schema, change: (value: unknown) => unknown): Schema =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))
