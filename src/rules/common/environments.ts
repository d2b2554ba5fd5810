import type { Json, JsonObject } from '../../base/json.ts'
import { jsonOf } from '../policy-document.ts'
import type { View } from '../types.ts'
import { jsonAt } from '../view.ts'
import { type AttributeText, stringsOf } from './strings.ts'

/** Attributes that hold variables of a process or keys of a configuration, in any cloud. */
const ATTRIBUTES = new Set([
  'app_settings',
  'build_environment_variables',
  'config',
  'container',
  'container_definitions',
  'data',
  'default_arguments',
  'environment',
  'environment_variables',
  'metadata',
  'service_config',
  'setting',
  'settings',
  'source_configuration',
  'spec',
  'template',
])
/** Holds secrets by design; rules of their own look at them. */
const SECRET_STORES =
  /^(kubernetes_secret|vault_|aws_secretsmanager_|google_secret_manager_|azurerm_key_vault_|oci_vault_)/

/** Named texts that a process will read; definitions in a JSON text are parsed. */
export function environmentOf(type: string, view: View): AttributeText[] {
  if (SECRET_STORES.test(type)) return []
  const values: JsonObject = {}
  for (const key of Object.keys(view.values))
    if (ATTRIBUTES.has(key)) values[key] = parseDefinitions(key, jsonAt(view, key))
  return stringsOf({ ...view, values }).filter(({ key }) => !ATTRIBUTES.has(key))
}

const parseDefinitions = (key: string, value: Json): Json => (key === 'container_definitions' ? jsonOf(value) : value)
