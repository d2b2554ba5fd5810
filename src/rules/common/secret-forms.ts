/** Argument names for secrets, decided by the last words: `db_password`, not `secret_id`. `_wo` means write-only. */
const ARGUMENT = new RegExp(
  `(^|_)(${[
    'password|passwd|passphrase|pass_phrase|secret|client_secret|secret_string|secret_data|secret_key',
    'secret_access_key|access_key|private_key|api_key|api_token|access_token|auth_token|oauth_token|token|account_key',
    'shared_key|preshared_key|pre_shared_key|signing_key|sas_token|webhook_secret|connection_string|plaintext_value',
  ].join('|')})(_wo)?$`,
  'i',
)
/** Idempotency tokens of clouds, which are public. */
const REQUEST_TOKEN = /(^|_)(creation|client_request|idempotency|opc_retry)_token$/i
/** Secret arguments by type, where the name does not show it. */
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
/** Path of the value in a block like `secret { name = "…", value = "…" }`. */
const SECRET_BLOCK = /(^|\.)secrets?\.value$/

/** Reports whether an argument of this type holds a secret. */
export const carriesSecret = (type: string, argument: string, path = argument): boolean =>
  SECRET_BLOCK.test(path) || (BY_TYPE.get(type)?.includes(argument) ?? false) || isSecretName(argument)

/** Reports whether a variable or module input holds a secret, by its name alone. */
export const isSecretName = (name: string): boolean => ARGUMENT.test(name) && !REQUEST_TOKEN.test(name)

const ENVIRONMENT =
  /(passwords?|passwd|(^|[_.-])pwd|passphrase|secrets?|token|(api|private|access)[_.-]?key|credentials?)$/i

/** Keys whose value is often the secret's name, such as `DB_SECRET=prod-database`. */
const MAY_NAME_ONE = /(secrets?|credentials?)$/i
/** A value that looks like such a name. */
const PLAIN_NAME = /^[a-z][a-z_-]*$/i

/** Reports whether an environment variable or configuration key holds a secret. */
export const isSecretVariable = (key: string, value: string): boolean =>
  ENVIRONMENT.test(key) &&
  !/^(public|max|min)/i.test(key) &&
  isLiteralSecret(value) &&
  !(MAY_NAME_ONE.test(key) && PLAIN_NAME.test(value))

// Texts in place of secrets: placeholders, switches, references and paths.

const WORD = /^(|true|false|null|none|\d{1,3}|placeholder|replace[_-]?me|to[_-]be[_-]replaced|dummy)$/i
const SECRET_ADDRESS =
  /^(arn:|ocid1\.|projects\/|sm:\/\/|gcp-secret:|vault:|ssm:|secretsmanager:|@Microsoft\.KeyVault\()/
const REFERENCE = /^(\{\{.*\}\}|\$\(.*\)|\$\{.*\}|<.*>|https?:\/\/[^@\s]*)$/s
/** Lower-case paths only, since base64 keys may contain slashes too. */
const PATH = /^(\/[\w./-]+|[a-z0-9_.-]+(\/[a-z0-9_.-]+)+)$/

/** Reports whether a text may be a secret itself, not a reference or placeholder. */
export function isLiteralSecret(value: string): boolean {
  const text = value.trim()
  return !WORD.test(text) && !SECRET_ADDRESS.test(text) && !REFERENCE.test(text) && !PATH.test(text)
}

/** Unmistakable forms of secrets; every pattern takes linear time. */
const FORMATS: [name: string, pattern: RegExp][] = [
  ['a private key', /-----BEGIN (?:RSA |EC |DSA |OPENSSH |ENCRYPTED |PGP )?PRIVATE KEY(?: BLOCK)?-----/],
  ['an AWS access key', /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/],
  ['a GitHub token', /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})/],
  ['a GitLab token', /(?<![A-Za-z0-9])gl(?:pat|dt|rt|cbt|ptt|soat)-[A-Za-z0-9_-]{20,}/],
  ['a Slack token', /(?<![A-Za-z0-9])xox[abeprs]-[A-Za-z0-9-]{10,}/],
  ['a Slack webhook', /hooks\.slack\.com\/services\/T[A-Z0-9]{6,}\/B[A-Z0-9]{6,}\/[A-Za-z0-9]{16,}/],
  ['a Google API key', /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/],
  ['a Stripe key', /(?<![A-Za-z0-9])[rs]k_live_[A-Za-z0-9]{20,}/],
  ['a key of a model provider', /(?<![A-Za-z0-9])sk-(?:ant-|proj-|svcacct-)[A-Za-z0-9_-]{20,}/],
  ['an npm token', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/],
  ['a PyPI token', /(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{50,}/],
  ['a Vault token', /(?<![A-Za-z0-9])hv[sb]\.[A-Za-z0-9_-]{24,}/],
  ['a SendGrid key', /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/],
  ['a DigitalOcean token', /(?<![A-Za-z0-9])do[opr]_v1_[a-f0-9]{64}/],
  ['a key of an Azure account', /(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}/],
]

/** Matches every text that a format may match, to rule out nearly all texts in one pass. */
const HINT = new RegExp(
  '-----BEGIN|A[KS]IA|gh[pousr]_|github_pat_|gl[a-z]{2,4}-|xox|hooks\\.slack|AIza|k_live_|sk-|npm_|pypi-' +
    '|hv[sb]\\.|SG\\.|_v1_|Key=',
)

/** Characters searched in one text; user data and documents are shorter. */
const MAX_SEARCHED = 200_000

/** Returns the kinds of secrets in a text, such as `an AWS access key`. */
export function tokensIn(text: string): string[] {
  const searched = text.slice(0, MAX_SEARCHED)
  if (!HINT.test(searched)) return []
  return FORMATS.filter(([, pattern]) => pattern.test(searched)).map(([name]) => name)
}

const URL_WITH_PASSWORD =
  /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@"'<>]{0,200}:([^\s/?#@"'<>]{1,200})@(?!sha256:)[A-Za-z0-9[]/gi

/** Reports whether a text has a URL with a password, such as `postgres://user:…@host`, but no placeholder. */
export const hasUrlPassword = (text: string): boolean =>
  text
    .slice(0, MAX_SEARCHED)
    .matchAll(URL_WITH_PASSWORD)
    .some(([, password = '']) => !/^([$<{%*].*|x+|\.+|password|changeme)$/i.test(password))
