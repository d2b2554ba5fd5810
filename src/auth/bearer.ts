/** The credentials of a Bearer header (scheme in any case); null for another scheme or none. */
export function bearerToken(authorization: string | null): string | null {
  const [scheme, ...rest] = (authorization ?? '').trim().split(/ +/)
  const token = rest.join(' ')
  return scheme?.toLowerCase() === 'bearer' && token !== '' ? token : null
}
