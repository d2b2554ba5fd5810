/**
 * Text that is too long for a model keeps its beginning and its end; a marker says how much is missing.
 * @param limit largest length of the kept text in UTF-16 units, the marker not counted
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
