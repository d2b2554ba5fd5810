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
export const isSecretName = (name: string): boolean => ARGUMENT.test(name) && !isRequestToken(name)

/** Reports whether a name is that of an idempotency token. */
export const isRequestToken = (name: string): boolean => REQUEST_TOKEN.test(name)

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

/**
 * Unmistakable forms of secrets; every pattern takes linear time. The kinds are those that issuers document; which of
 * them matter was compared with the public rules of gitleaks (MIT, `config/gitleaks.toml`).
 */
const FORMATS: [name: string, pattern: RegExp][] = [
  ['a private key', /-----BEGIN (?:RSA |EC |DSA |OPENSSH |ENCRYPTED |PGP )?PRIVATE KEY(?: BLOCK)?-----/],
  ['an age key', /AGE-SECRET-KEY-1[A-Z0-9]{50,60}/],
  ['an AWS access key', /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/],
  ['a key of an AWS model service', /(?<![A-Za-z0-9])ABSK[A-Za-z0-9+/]{80,}={0,2}/],
  ['an Alibaba access key', /(?<![A-Za-z0-9])LTAI[A-Za-z0-9]{16,26}(?![A-Za-z0-9])/],
  ['a secret of an Azure application', /(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])/],
  ['a GitHub token', /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})/],
  ['a GitLab token', /(?<![A-Za-z0-9])gl(?:pat|dt|rt|cbt|ptt|soat|ft|imt|agent|oas|ffct)-[A-Za-z0-9_-]{20,}/],
  ['an Atlassian token', /(?<![A-Za-z0-9])ATATT3[A-Za-z0-9_=-]{60,}/],
  ['a Slack token', /(?<![A-Za-z0-9])(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{10,}/],
  ['a Slack webhook', /hooks\.slack\.com\/services\/T[A-Z0-9]{6,}\/B[A-Z0-9]{6,}\/[A-Za-z0-9]{16,}/],
  ['a Google API key', /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/],
  ['a Google client secret', /(?<![A-Za-z0-9])GOCSPX-[A-Za-z0-9_-]{20,}/],
  ['a Stripe key', /(?<![A-Za-z0-9])[rs]k_live_[A-Za-z0-9]{20,}/],
  ['a key of a model provider', /(?<![A-Za-z0-9])(?:sk-(?:ant-|proj-|svcacct-|admin-)|pplx-)[A-Za-z0-9_-]{20,}/],
  ['a Hugging Face token', /(?<![A-Za-z0-9])hf_[A-Za-z]{34}(?![A-Za-z0-9])/],
  ['an npm token', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/],
  ['a PyPI token', /(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{50,}/],
  ['a RubyGems key', /(?<![A-Za-z0-9])rubygems_[a-f0-9]{48}/],
  ['a Vault token', /(?<![A-Za-z0-9])hv[sb]\.[A-Za-z0-9_-]{24,}/],
  ['a token of an engine registry', /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}/],
  ['a SendGrid key', /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/],
  ['a DigitalOcean token', /(?<![A-Za-z0-9])do[opr]_v1_[a-f0-9]{64}/],
  ['a Databricks token', /(?<![A-Za-z0-9])dapi[a-f0-9]{32}/],
  ['a Doppler token', /(?<![A-Za-z0-9])dp\.(?:pt|st|sa|ct)\.[A-Za-z0-9._-]{40,}/],
  ['a Dynatrace token', /dt0c01\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}/],
  ['a Grafana token', /(?<![A-Za-z0-9])(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,3})/],
  ['a New Relic key', /(?<![A-Za-z0-9])NRAK-[A-Z0-9]{27}/],
  ['a Pulumi token', /(?<![A-Za-z0-9])pul-[a-f0-9]{40}/],
  ['a PlanetScale password', /(?<![A-Za-z0-9])pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}/],
  ['a Postman key', /(?<![A-Za-z0-9])PMAK-[a-f0-9]{24}-[a-f0-9]{34}/],
  ['a Sentry token', /(?<![A-Za-z0-9])(?:sntrys_eyJ[A-Za-z0-9+/=_]{40,}|sntryu_[a-f0-9]{64})/],
  ['a Shopify token', /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}/],
  ['a 1Password key', /(?<![A-Za-z0-9])(?:A3(?:-[A-Z0-9]{5,11}){4,6}|ops_eyJ[A-Za-z0-9+/]{100,}={0,3})(?![A-Za-z0-9])/],
  ['a signed token', /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{14,}\.eyJ[A-Za-z0-9_-]{14,}\.[A-Za-z0-9_-]{10,}/],
  ['a key of an Azure account', /(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}/],
]

/** The kinds of secrets that have an unmistakable form. */
export const TOKEN_KINDS: readonly string[] = FORMATS.map(([name]) => name)

/** Matches every text that a format may match, to rule out nearly all texts in one pass. */
const HINT = new RegExp(
  '-----BEGIN|A[KSBC][IC]A|ABSK|LTAI|AGE-|Q~|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|ATATT|xox|xapp|hooks\\.slack|AIza' +
    '|GOCSPX|k_live_|sk-|pplx-|hf_|npm_|pypi-|rubygems_|hv[sb]\\.|atlasv1|SG\\.|_v1_|dapi|dp\\.|dt0c01|gl[sc]a?_' +
    '|NRAK|pul-|pscale_|PMAK|sntry|shp[a-z]{2}_|A3-|ops_|eyJ|Key=',
)

/** Characters searched in one text; user data and documents are shorter. */
const MAX_SEARCHED = 200_000

/** Returns the kinds of secrets in a text, such as `an AWS access key`. */
export function tokensIn(text: string): string[] {
  const searched = text.slice(0, MAX_SEARCHED)
  if (!HINT.test(searched)) return []
  return FORMATS.filter(([, pattern]) => pattern.test(searched)).map(([name]) => name)
}

/** Returns the places of all such secrets in a text, as `[start, end]`. */
export const tokenPlacesIn = (text: string): [number, number][] =>
  HINT.test(text)
    ? FORMATS.flatMap(([, pattern]) =>
        [...text.matchAll(new RegExp(pattern, 'g'))].map((match): [number, number] => [
          match.index,
          match.index + match[0].length,
        ]),
      )
    : []

const URL_WITH_PASSWORD =
  /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@"'<>]{0,200}:([^\s/?#@"'<>]{1,200})@(?!sha256:)[A-Za-z0-9[]/gi

const URL_PLACEHOLDER = /^([$<{%*(].*|x+|\.+|password|changeme)$/i

/** Reports whether a text has a URL with a password, such as `postgres://user:…@host`, but no placeholder. */
export const hasUrlPassword = (text: string): boolean => urlPasswordPlacesIn(text.slice(0, MAX_SEARCHED)).length > 0

/** Returns the places of the passwords in the URLs of a text, as `[start, end]`. */
export const urlPasswordPlacesIn = (text: string): [number, number][] =>
  [...text.matchAll(URL_WITH_PASSWORD)]
    .filter(([, password = '']) => !URL_PLACEHOLDER.test(password))
    .map(({ index, 0: match, 1: password = '' }) => {
      const end = index + match.lastIndexOf('@')
      return [end - password.length, end]
    })
