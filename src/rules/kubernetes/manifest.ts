import { parse } from 'yaml'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { Subject } from '../types.ts'
import { jsonAt } from '../view.ts'
import { typeOfKind } from './resource-types.ts'

/** The provider names repeated blocks in the singular. */
const SINGULAR: Record<string, string> = {
  containers: 'container',
  init_containers: 'init_container',
  volumes: 'volume',
  subjects: 'subject',
  rules: 'rule',
  ports: 'port',
}
/** Maps whose keys are the user's. */
const FREE = new Set(['data', 'string_data', 'binary_data', 'labels', 'annotations', 'match_labels', 'parameters'])
const MAX_DEPTH = 40
const MAX_YAML = 200_000

/** A raw manifest as the typed resource it stands for; null for other kinds, lists and what cannot be read. */
export function typedManifest(subject: Subject): Subject | null {
  const manifest = manifestOf(subject.type, subject.values)
  const type = isJsonObject(manifest) && typeof manifest.kind === 'string' ? typeOfKind(manifest.kind) : undefined
  if (type === undefined) return null
  const convert = (value: Json): JsonObject => {
    const converted = renameKeys(value, type, 0)
    return isJsonObject(converted) ? converted : {}
  }
  const flags = (part: Json | undefined) => (isJsonObject(part) ? convert(part.manifest ?? null) : part)
  return {
    ...subject,
    type,
    values: convert(manifest),
    unknown: flags(subject.unknown),
    sensitive: flags(subject.sensitive),
    before: convert(manifestOf(subject.type, subject.before)),
  }
}

function manifestOf(type: string, values: JsonObject): Json {
  const view = { values, unknown: undefined, sensitive: undefined }
  if (type === 'kubernetes_manifest') return jsonAt(view, 'manifest')
  const text = jsonAt(view, 'yaml_body')
  if (typeof text !== 'string' || text.length > MAX_YAML) return null
  try {
    const document: unknown = parse(text, { maxAliasCount: 20 })
    return isJsonObject(document) ? document : null
  } catch {
    return null
  }
}

function renameKeys(value: Json, type: string, depth: number): Json {
  if (depth > MAX_DEPTH) return null
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, type, depth + 1))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = providerName(key, type)
      return [name, FREE.has(name) ? inner : renameKeys(inner, type, depth + 1)]
    }),
  )
}

function providerName(key: string, type: string): string {
  const snake = key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  // A network policy is the one place where the provider kept the plural.
  if (snake === 'ports' && type === 'kubernetes_network_policy_v1') return snake
  return Object.hasOwn(SINGULAR, snake) ? (SINGULAR[snake] ?? snake) : snake
}
