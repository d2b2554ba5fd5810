const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i
const SECRET_PARAMETER = /([?&][^=&#]*(?:password|passwd|token|secret|key|sig)[^=&#]*=)[^&#]+/gi

/** Returns the URL without user name and password, for messages that quote it. */
export const withoutUserinfo = (url: string) => url.replace(USERINFO, '$1')

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
  return url
    .replace(USERINFO, (_all, scheme: string, userinfo: string) => {
      const { shown, secret } = splitUserinfo(scheme, userinfo)
      return `${scheme}${shown}${secret === '' ? '' : '***'}@`
    })
    .replace(SECRET_PARAMETER, '$1***')
}

/** Returns the values that `maskUrl` hides in a URL, each both as written and decoded. */
export function secretsInUrl(url: string): string[] {
  const [, scheme = '', userinfo = ''] = USERINFO.exec(url) ?? []
  const hidden = [splitUserinfo(scheme, userinfo).secret]
  for (const [parameter, start = ''] of url.matchAll(SECRET_PARAMETER)) hidden.push(parameter.slice(start.length))
  return hidden.filter((secret) => secret !== '').flatMap((secret) => [secret, decodeOrKeep(secret)])
}

/** Decodes percent-encoded text; returns a broken one unchanged. */
export function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
