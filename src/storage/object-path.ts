/** The path of an object below its bucket, encoded segment by segment as signatures demand. */
export const objectPath = (key: string): string => key.split('/').map(encodeSegment).join('/')

const encodeSegment = (segment: string) =>
  encodeURIComponent(segment).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

export const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '')
