const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i
const SECRET_PARAMETER = /([?&][^=&#]*(?:password|passwd|token|secret|key|sig)[^=&#]*=)[^&#]+/gi

/** The address without user and password, for texts that quote it. */
export const withoutUserinfo = (url: string) => url.replace(USERINFO, '$1')

/** User and secret of an address. HTTP services take a token in the place of the user; elsewhere a lone user is a name. */
function credentials(scheme: string, userinfo: string): { user: string; secret: string } {
  const colon = userinfo.indexOf(':')
  if (colon !== -1) return { user: userinfo.slice(0, colon), secret: userinfo.slice(colon + 1) }
  return /^https?:/i.test(scheme) ? { user: '', secret: userinfo } : { user: userinfo, secret: '' }
}

/** The address with its password, or the token in its place, as `***`; so are query parameters that look like credentials. */
export function maskUrl(url: string): string {
  return url
    .replace(USERINFO, (_all, scheme: string, userinfo: string) => {
      const { user, secret } = credentials(scheme, userinfo)
      const hidden = secret === '' ? '' : '***'
      return `${scheme}${user}${user !== '' && secret !== '' ? ':' : ''}${hidden}@`
    })
    .replace(SECRET_PARAMETER, '$1***')
}

/** What `maskUrl` hides, as written and decoded. */
export function secretsInUrl(url: string): string[] {
  const [, scheme = '', userinfo = ''] = USERINFO.exec(url) ?? []
  const hidden = [credentials(scheme, userinfo).secret]
  for (const [parameter, start = ''] of url.matchAll(SECRET_PARAMETER)) hidden.push(parameter.slice(start.length))
  return hidden.filter((secret) => secret !== '').flatMap((secret) => [secret, decoded(secret)])
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
