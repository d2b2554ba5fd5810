import { readFile } from 'node:fs/promises'

/** What git signs in with when it fetches modules below an address. */
export interface ModuleCredentials {
  /** `https://host[:port]/`, with a path that ends in a slash where only a part of the host is meant. */
  url: string
  user: string
  token: string
}

/**
 * Parses lines `https://user:token@host[:port][/path]`, the form of git's credential store. Blank lines and those that
 * begin with `#` are skipped. Returns the number of the first wrong line instead; its text may be a secret.
 */
export function parseModuleCredentials(text: string): ModuleCredentials[] | number {
  const found: ModuleCredentials[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue
    const url = URL.parse(line.trim())
    if (url?.protocol !== 'https:' || url.password === '' || url.search !== '' || url.hash !== '') return index + 1
    const path = url.pathname.replace(/\/*$/, '/')
    try {
      const [user, token] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
      if (/[\r\n\0]/.test(user + token)) return index + 1
      found.push({ url: `${url.origin}${path}`, user, token })
    } catch {
      return index + 1
    }
  }
  return found
}

/** Reads the operator's file; none without one. Errors: an `Error` that names the line, never its text. */
export async function readModuleCredentials(path: string): Promise<ModuleCredentials[]> {
  if (path === '') return []
  const parsed = parseModuleCredentials(await readFile(path, 'utf8'))
  if (typeof parsed === 'number')
    throw new Error(`line ${parsed} of the file of IAC_MODULE_CREDENTIALS is not https://user:token@host`)
  return parsed
}

/**
 * Returns the variables with which git signs in: neither its arguments nor what it writes have a token then. The
 * addresses of the same places by SSH are read over HTTPS. Redirects are not followed, because they would take the
 * header along.
 * @param given what the environment has already
 */
export function gitCredentialVariables(
  credentials: readonly ModuleCredentials[],
  given: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  if (credentials.length === 0) return {}
  const settings = credentials.flatMap(({ url, user, token }) => {
    const { hostname, pathname } = new URL(url)
    const header = `Authorization: Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`
    return [
      [`http.${url}.extraHeader`, header],
      [`http.${url}.followRedirects`, 'false'],
      [`url.${url}.insteadOf`, `ssh://git@${hostname}${pathname}`],
    ]
  })
  const first = Number(given.GIT_CONFIG_COUNT ?? 0) || 0
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(first + settings.length)],
    ['GIT_TERMINAL_PROMPT', '0'],
    ...settings.flatMap(([key = '', value = ''], index) => [
      [`GIT_CONFIG_KEY_${first + index}`, key],
      [`GIT_CONFIG_VALUE_${first + index}`, value],
    ]),
  ])
}
