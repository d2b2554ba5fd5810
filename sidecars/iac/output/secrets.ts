const NAME = /SECRET|TOKEN|PASSW|CREDENTIAL|_KEY(_ID|_DATA)?$/i
/** Names of variables that hold a secret even if it begins like a path, as a base64 key of AWS may. */
const LITERAL = /SECRET|TOKEN|PASSW/i
const NAMES_A_FILE = /_(FILE|PATH|DIR|DIRECTORY)$/i
/** Minimum length; shorter values would match in ordinary words. */
export const MIN_LENGTH = 8

/**
 * Returns the secrets of an environment: values of variables with such names, passwords of addresses and connection
 * strings in any variable, and nested ones, such as the key inside a JSON document.
 */
export function credentialsOf(env: Record<string, string | undefined>): string[] {
  const values = Object.entries(env).flatMap(([name, value = '']) => [
    ...(isSecret(name, value) ? [value, ...nestedSecrets(value)] : []),
    ...passwordsOf(value),
  ])
  return [...new Set(values)].sort((a, b) => b.length - a.length)
}

const isSecret = (name: string, value: string): boolean =>
  NAME.test(name) &&
  !NAMES_A_FILE.test(name) &&
  value.length >= MIN_LENGTH &&
  (LITERAL.test(name) || !value.startsWith('/'))

const NESTED = /secret|token|passw|private_?key|credential/i
const MAX_DEPTH = 8

/** Returns the secrets inside a JSON document, such as the private key of a service account. */
function nestedSecrets(text: string): string[] {
  if (!/^\s*[[{]/.test(text)) return []
  try {
    return [...nestedStrings(JSON.parse(text), '', 0)]
  } catch {
    return []
  }
}

function* nestedStrings(value: unknown, name: string, depth: number): Generator<string> {
  if (depth > MAX_DEPTH) return
  if (typeof value === 'string') {
    if (NESTED.test(name) && value.length >= MIN_LENGTH && !/^https?:\/\//.test(value)) yield value
  } else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value))
      yield* nestedStrings(inner, Array.isArray(value) ? name : key, depth + 1)
}

const URL_LOGIN = /[a-z][a-z0-9+.-]{0,30}:\/\/([^/?#\s]*)@/gi
const WORD_PASSWORD =
  /(?:^|[\s;&?,])(?:password|passwd|pwd|accountkey|sharedaccesskey|sig|access_token|token)\s*=\s*'?([^\s;&']+)/gi
/** Length from which a user name is a token: repository hosts accept one in that place. */
const TOKEN_LENGTH = 20

/** Returns the passwords in addresses and connection strings, raw and decoded; short ones with their context. */
export function passwordsOf(text: string): string[] {
  const found: string[] = []
  for (const [whole, login = ''] of text.matchAll(URL_LOGIN)) {
    const colon = login.indexOf(':')
    const password = colon < 0 ? '' : login.slice(colon + 1)
    if (password !== '')
      for (const form of [password, decoded(password)]) found.push(form.length >= MIN_LENGTH ? form : whole)
    else if (login.length >= TOKEN_LENGTH) found.push(login.replace(/:$/, ''))
  }
  for (const [, password = ''] of text.matchAll(WORD_PASSWORD))
    for (const form of [password, decoded(password)]) if (form.length >= MIN_LENGTH) found.push(form)
  return found
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
