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
