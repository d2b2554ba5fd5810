/**
 * Text of others, such as a plan or a file name, without what could mislead the reader: control characters and marks
 * that turn the direction of text become visible. Line breaks and tabs stay.
 */
export const visibleText = (text: string): string =>
  text.replaceAll(MISLEADING, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : `\u27e8U+${toHex(code)}\u27e9`
  })

const toHex = (code: number) => code.toString(16).toUpperCase().padStart(4, '0')

const MISLEADING = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u{feff}]/gu

/** The beginning of a long text, with a mark where it was cut. */
export const shorten = (text: string, length: number): string =>
  text.length <= length ? text : `${[...text.slice(0, length)].slice(0, -1).join('')}…`

/** `acme/infrastructure` of a repository address; the address itself when it has another form. */
export function repositoryName(uri: string): string {
  const path = URL.parse(uri)
    ?.pathname.replace(/^\/+|\.git$|\/+$/g, '')
    .replace(/\.git$/, '')
  return path || uri
}
