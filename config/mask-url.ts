const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i
const SECRET_PARAMETER = /([?&][^=&#]*(?:password|passwd|token|secret|key|sig)[^=&#]*=)[^&#]+/gi
/** The URL of a database has no fragment: `#` is a character like any other. */
const DATABASE_SECRET = /([?&][^=&]*(?:password|passwd|token|secret|key|sig)[^=&]*=)[^&]+/gi

/** Splits a URL into its scheme with `://`, its user information, and the rest; null for a text without a scheme. */
function splitUrl(url: string) {
  const scheme = SCHEME.exec(url)?.[0]
  if (scheme === undefined) return null
  const rest = url.slice(scheme.length)
  const isDatabase = /^postgres/i.test(scheme)
  const start = isDatabase ? afterUserinfo(rest) : (/^[^/?#]*@/.exec(rest)?.[0].length ?? 0)
  const secretParameter = isDatabase ? DATABASE_SECRET : SECRET_PARAMETER
  return { scheme, userinfo: rest.slice(0, Math.max(0, start - 1)), rest: rest.slice(start), secretParameter }
}

/**
 * Returns where the servers begin in a database URL without its scheme: after the user information and its `@`, else 0.
 * A password may hold any character but `/`. So of all places the first counts after which the text reads as servers,
 * path and parameters; where none does, the last.
 */
export function afterUserinfo(rest: string): number {
  const authority = rest.split('/', 1)[0] ?? ''
  const places = [0, ...[...authority.matchAll(/@/g)].map(({ index }) => index + 1)]
  return places.find((place) => WITHOUT_USERINFO.test(rest.slice(place))) ?? places.at(-1) ?? 0
}
const WITHOUT_USERINFO =
  /^(?:(?:^|,)(?:\[[^\]]*\]|[^:,@?/[\]]*)(?::\d*)?)*(?:\/[^?]*)?(?:\?(?:[^=&]+=[^&]*)?(?:&(?:[^=&]+=[^&]*)?)*)?$/

/** Returns the URL without user name and password, for messages that quote it. */
export function withoutUserinfo(url: string): string {
  const split = splitUrl(url)
  return split ? split.scheme + split.rest : url
}

/**
 * Splits the user information of a URL into the part that may be shown and the secret after it. A user name alone is a
 * secret in an HTTP URL, because services accept a token there.
 */
function splitUserinfo(scheme: string, userinfo: string): { shown: string; secret: string } {
  const colon = userinfo.indexOf(':')
  if (colon !== -1) return { shown: userinfo.slice(0, colon + 1), secret: userinfo.slice(colon + 1) }
  return /^https?:/i.test(scheme) ? { shown: '', secret: userinfo } : { shown: userinfo, secret: '' }
}

/** Masks the password or token of a URL and the query parameters that look like credentials with `***`. */
export function maskUrl(url: string): string {
  const split = splitUrl(url)
  if (!split) return url.replace(SECRET_PARAMETER, '$1***')
  const { shown, secret } = splitUserinfo(split.scheme, split.userinfo)
  const userinfo = split.userinfo === '' ? '' : `${shown}${secret === '' ? '' : '***'}@`
  return `${split.scheme}${userinfo}${split.rest.replace(split.secretParameter, '$1***')}`
}

/** Returns the values that `maskUrl` hides in a URL, each both as written and decoded. */
export function secretsInUrl(url: string): string[] {
  const { scheme = '', userinfo = '', rest = url, secretParameter = SECRET_PARAMETER } = splitUrl(url) ?? {}
  const hidden = [splitUserinfo(scheme, userinfo).secret]
  for (const [parameter, start = ''] of rest.matchAll(secretParameter)) hidden.push(parameter.slice(start.length))
  return hidden.filter((secret) => secret !== '').flatMap((secret) => [secret, decodeOrKeep(secret)])
}

/** Decodes percent-encoded text. A percent sign that begins no escape stands for itself; broken UTF-8 is kept. */
export function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'))
  } catch {
    return text
  }
}
