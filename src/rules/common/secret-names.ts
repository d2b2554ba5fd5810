/**
 * Names of arguments that carry a secret. The last words of a name decide: `db_password` carries one, `secret_id` and
 * `secret_name` do not. `_wo` marks the write-only form of an argument.
 */
const ARGUMENT = new RegExp(
  `(^|_)(${[
    'password|passwd|passphrase|pass_phrase|secret|client_secret|secret_string|secret_data|secret_key',
    'secret_access_key|access_key|private_key|api_key|api_token|access_token|auth_token|oauth_token|token|account_key',
    'shared_key|preshared_key|pre_shared_key|signing_key|sas_token|webhook_secret|connection_string|plaintext_value',
  ].join('|')})(_wo)?$`,
  'i',
)
/** Tokens by which a cloud tells a repeated request from a new one. Everyone may know them. */
const REQUEST_TOKEN = /(^|_)(creation|client_request|idempotency|opc_retry)_token$/i
/** Arguments that carry a secret in resources of a certain type, although their names do not say so. */
const BY_TYPE = new Map<string, readonly string[]>(
  Object.entries({
    aws_secretsmanager_secret_version: ['secret_string', 'secret_binary'],
    azurerm_key_vault_secret: ['value', 'value_wo'],
    oci_vault_secret: ['content'],
    kubernetes_secret: ['data', 'binary_data', 'data_wo', 'binary_data_wo'],
    kubernetes_secret_v1: ['manifest', 'data', 'binary_data', 'data_wo', 'binary_data_wo'],
    google_secret_manager_secret_version: ['secret_data', 'secret_data_wo'],
    vault_generic_secret: ['data_json'],
    vault_kv_secret_v2: ['data_json'],
  }),
)
/** Path of the value in a block such as `secret { name = "…", value = "…" }`. */
const SECRET_BLOCK = /(^|\.)secrets?\.value$/

/** Reports whether an argument of a resource of this type holds a secret. */
export const carriesSecret = (type: string, argument: string, path = argument): boolean =>
  SECRET_BLOCK.test(path) || (BY_TYPE.get(type)?.includes(argument) ?? false) || isSecretName(argument)

/** Reports whether a variable or an input of a module holds a secret, by its name alone. */
export const isSecretName = (name: string): boolean => ARGUMENT.test(name) && !REQUEST_TOKEN.test(name)

const ENVIRONMENT =
  /(passwords?|passwd|(^|[_.-])pwd|passphrase|secrets?|token|(api|private|access)[_.-]?key|credentials?)$/i

/** Keys whose value often is not the secret but its name, such as `DB_SECRET=prod-database`. */
const MAY_NAME_ONE = /(secrets?|credentials?)$/i
/** A value that reads like such a name. */
const PLAIN_NAME = /^[a-z][a-z_-]*$/i

/** Reports whether an environment variable or a key of a configuration holds a secret. */
export const isSecretVariable = (key: string, value: string): boolean =>
  ENVIRONMENT.test(key) &&
  !/^(public|max|min)/i.test(key) &&
  isLiteralSecret(value) &&
  !(MAY_NAME_ONE.test(key) && PLAIN_NAME.test(value))

// Texts that stand in the place of a secret and are none: placeholders and switches, references to a secret, and paths.

const WORD = /^(|true|false|null|none|\d{1,3}|placeholder|replace[_-]?me|to[_-]be[_-]replaced|dummy)$/i
const SECRET_ADDRESS =
  /^(arn:|ocid1\.|projects\/|sm:\/\/|gcp-secret:|vault:|ssm:|secretsmanager:|@Microsoft\.KeyVault\()/
const REFERENCE = /^(\{\{.*\}\}|\$\(.*\)|\$\{.*\}|<.*>|https?:\/\/[^@\s]*)$/s
/** Paths in lower case only, since a key in base64 may contain slashes too. */
const PATH = /^(\/[\w./-]+|[a-z0-9_.-]+(\/[a-z0-9_.-]+)+)$/

/** Reports whether a text could be a secret itself, and not a reference to one or a placeholder. */
export function isLiteralSecret(value: string): boolean {
  const text = value.trim()
  return !WORD.test(text) && !SECRET_ADDRESS.test(text) && !REFERENCE.test(text) && !PATH.test(text)
}
