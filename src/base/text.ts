/**
 * Shortens a text that is too long for a model: its beginning and its end stay, and a marker between them says
 * how many characters are missing.
 * @param limit most UTF-16 units to keep, half at each end; the marker is not counted
 */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil(limit / 2)
  const tail = limit - head
  const start = isLowSurrogate(text.charCodeAt(head)) ? head - 1 : head
  const end = isLowSurrogate(text.charCodeAt(text.length - tail)) ? text.length - tail + 1 : text.length - tail
  return `${text.slice(0, start)}\n[… ${end - start} characters left out …]\n${text.slice(end)}`
}

const isLowSurrogate = (code: number) => code >= 0xdc00 && code <= 0xdfff

/** True for a uuid in its usual form, in upper or lower case. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
