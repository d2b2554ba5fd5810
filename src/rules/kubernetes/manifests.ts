import { parse } from 'yaml'
import { isJsonObject, type Json, type JsonObject, ownMember } from '../../base/json.ts'
import { wordsOf } from '../../base/text.ts'
import type { Subject } from '../rule.ts'
import { objectOf } from '../view.ts'

/** The provider's singular names of repeated blocks. */
const SINGULAR = new Map([
  ['containers', 'container'],
  ['init_containers', 'init_container'],
  ['volumes', 'volume'],
  ['subjects', 'subject'],
  ['rules', 'rule'],
  ['ports', 'port'],
])
/** Maps with user-chosen keys, which are not converted. */
const FREE = new Set(['data', 'string_data', 'binary_data', 'labels', 'annotations', 'match_labels', 'parameters'])
const MAX_DEPTH = 40
const MAX_YAML = 200_000

/** Converts a raw manifest to its typed resource, so that the same rules apply; null where there is none. */
export function typedManifest(subject: Subject): Subject | null {
  const manifest = manifestOf(subject.type, subject.values)
  const type = isJsonObject(manifest) && typeof manifest.kind === 'string' ? typeOfKind(manifest.kind) : undefined
  if (type === undefined) return null
  const convert = (value: Json) => objectOf(renameKeys(value, type, 0))
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
  if (type === 'kubernetes_manifest') return ownMember(values, 'manifest') ?? null
  const text = ownMember(values, 'yaml_body')
  if (typeof text !== 'string' || text.length > MAX_YAML) return null
  try {
    const document: unknown = parse(text, { maxAliasCount: 20 })
    return isJsonObject(document) ? document : null
  } catch {
    return null
  }
}

/** Converts a manifest's keys to the provider's names. */
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
  const snake = toSnakeCase(key)
  // Only in a network policy did the provider keep the plural.
  if (snake === 'ports' && type === 'kubernetes_network_policy_v1') return snake
  return SINGULAR.get(snake) ?? snake
}

/** Manifest kinds that have a resource type. */
const KINDS = new Set(
  wordsOf(`
    Pod Deployment DaemonSet StatefulSet ReplicationController Job CronJob Service Ingress NetworkPolicy StorageClass
    Role ClusterRole RoleBinding ClusterRoleBinding ConfigMap Secret`),
)

/** Returns the resource type of a kind; undefined when there is none. */
const typeOfKind = (kind: string) => (KINDS.has(kind) ? `kubernetes_${toSnakeCase(kind)}_v1` : undefined)

const toSnakeCase = (name: string) => name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
