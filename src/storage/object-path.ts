/**
 * The path of an object below its bucket, encoded segment by segment as signatures demand. Throws for
 * dot segments: every URL parser resolves them, so they would name another object.
 */
export function objectPath(key: string): string {
  const segments = key.split('/')
  if (segments.some((segment) => segment === '.' || segment === '..'))
    throw new Error('a key must not have dot segments')
  return segments.map(encodeSegment).join('/')
}

const encodeSegment = (segment: string) =>
  encodeURIComponent(segment).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

export const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '')
