const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i
const SECRET_PARAMETER = /([?&][^=&#]*(?:password|passwd|token|secret|key|sig)[^=&#]*=)[^&#]+/gi

/** The address without user and password, for texts that quote it. */
export const withoutUserinfo = (url: string) => url.replace(USERINFO, '$1')

/**
 * The address with its password as `***`. A user without password is masked as well, since some
 * stores carry their token there; so are query parameters that look like credentials.
 */
export function maskUrl(url: string): string {
  return url
    .replace(USERINFO, (_all, scheme: string, userinfo: string) => {
      const colon = userinfo.indexOf(':')
      return colon === -1 ? `${scheme}***@` : `${scheme}${userinfo.slice(0, colon)}:***@`
    })
    .replace(SECRET_PARAMETER, '$1***')
}

/** What `maskUrl` hides, as written and decoded. */
export function secretsInUrl(url: string): string[] {
  const userinfo = USERINFO.exec(url)?.[2]
  const hidden = userinfo === undefined ? [] : [userinfo.slice(userinfo.indexOf(':') + 1)]
  for (const [parameter, start = ''] of url.matchAll(SECRET_PARAMETER)) hidden.push(parameter.slice(start.length))
  return hidden.flatMap((secret) => [secret, decoded(secret)])
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
