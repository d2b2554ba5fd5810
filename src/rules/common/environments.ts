import type { Json, JsonObject } from '../../base/json.ts'
import { jsonOf } from '../policy-document.ts'
import type { View } from '../types.ts'
import { jsonAt } from '../view.ts'
import { type AttributeText, stringsOf } from './strings.ts'

/** Attributes, of any cloud, that contain environment variables of a process or keys of a configuration. */
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
/** Types that are meant to contain secrets. Other rules look at them. */
const SECRET_STORES =
  /^(kubernetes_secret|vault_|aws_secretsmanager_|google_secret_manager_|azurerm_key_vault_|oci_vault_)/

/** The texts with a key that a process will read: its environment and its configuration. */
export function environmentOf(type: string, view: View): AttributeText[] {
  if (SECRET_STORES.test(type)) return []
  const values: JsonObject = {}
  for (const key of Object.keys(view.values))
    if (ATTRIBUTES.has(key)) values[key] = parseDefinitions(key, jsonAt(view, key))
  return stringsOf({ ...view, values }).filter(({ key }) => !ATTRIBUTES.has(key))
}

/** ECS writes the definitions of containers as JSON text. */
const parseDefinitions = (key: string, value: Json): Json => (key === 'container_definitions' ? jsonOf(value) : value)
