// These functions turn text of models, plans, repositories and requests into Markdown for hosts with different
// dialects. The result is a single line. It has no markup, links, images, mentions, references or quick actions, and
// no keyword in it closes an issue.

/** A space without width. It looks like nothing, and a host does not recognise what it interrupts. */
const BREAK = '\u200b'

/** Turns a text into one line without control characters and invisible characters, for example of text direction. */
const toOneLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()

/** Cuts a text to `max` UTF-16 units, the ellipsis included. A character is never split. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text
    .slice(0, Math.max(0, max - 1))
    .toWellFormed()
    .replace(/\ufffd$/, '')
    .trimEnd()}…`
}

/**
 * Puts an invisible character into everything that a host would turn into a link, a mention, or a reference to an
 * issue, merge request, milestone, label or tracker. The text looks the same, but `Fixes #12` closes no issue.
 */
const breakLinks = (text: string): string =>
  text
    .replaceAll(/([#!&%~$^@])(?=[\p{L}\p{N}_"'{[(])/gu, `$1${BREAK}`)
    .replaceAll(/(?<=[a-z][a-z0-9+.-]*:)(?=\/\/)|(?<=\b(?:mailto|xmpp|tel|javascript|data):)/gi, BREAK)
    .replaceAll(/\b(www)(?=\.)/gi, `$1${BREAK}`)
    .replaceAll(/\b([A-Z][A-Z0-9_]+-|gh-|\[[a-z_]+:)(?=\d)/g, `$1${BREAK}`)

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Escapes all markup. An underscore inside a word stays, because no dialect reads it as emphasis. */
const escapeMarkup = (text: string): string =>
  breakLinks(text)
    .replaceAll(/[\\`*[\]|~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
    .replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character)

/** Escapes what would begin a list, heading, rule, table or quick action at the start of a line. */
const escapeLineStart = (line: string): string => line.replace(/^\d+(?=[.)])|^(?=[-+=#:/!^])/, (start) => `${start}\\`)

/** Turns a text into one line of Markdown, for the start of a line, an entry of a list or the cell of a table. */
export const inline = (text: string, max = 400): string => escapeLineStart(escapeMarkup(cut(toOneLine(text), max)))

const PLAIN_CODE = /^[\w.\-"/:=[\]() ]+$/
const LINKED = /:\/\/|\b[wW]{3}\.|\b[A-Z][A-Z0-9_]+-\d|\b[gG][hH]-\d/

/**
 * Shows an address, a path or an identifier as code, when nothing in it could end the code or become a link; else as
 * escaped text.
 */
export function code(text: string, max = 200): string {
  const line = cut(toOneLine(text), max)
  return PLAIN_CODE.test(line) && !LINKED.test(line) ? `\`${line}\`` : escapeLineStart(escapeMarkup(line))
}

/**
 * Turns a text into a title. Hosts read no markup in titles, but they do read references, there and in the message of a
 * squashed commit, which repeats the title.
 */
export const plainTitle = (text: string, max: number): string => cut(breakLinks(toOneLine(text)), max)

/**
 * Turns prose of a model, of several lines, into Markdown. Paragraphs, lists and code within a line stay, headings
 * become bold text, and all other markup is escaped.
 * @param max UTF-16 units of the result
 */
export function prose(text: string, max: number): string {
  const lines: string[] = []
  let length = 0
  for (const raw of text.replaceAll(/\r\n?/g, '\n').split('\n')) {
    const line = renderProseLine(cut(raw, max))
    if (line === null || (line === '' && (lines.at(-1) ?? '') === '')) continue
    if (length + line.length + 1 > max - 2) {
      lines.push('…')
      break
    }
    length += line.length + 1
    lines.push(line)
  }
  return lines.join('\n').trim()
}

function renderProseLine(raw: string): string | null {
  if (/^\s*(`{3,}|~{3,})/.test(raw)) return null
  const item = /^(\s*)(?:[-*+]|(\d{1,3})[.)])\s+(\S.*)$/.exec(raw)
  if (item) return `${item[1] ? '  ' : ''}${item[2] ? `${item[2]}.` : '-'} ${renderSpans(item[3] ?? '')}`
  const heading = /^\s*#{1,6}\s+(\S.*)$/.exec(raw)?.[1]
  return heading ? `**${inline(heading)}**` : renderSpans(raw)
}

/** Renders one line of prose: code within it stays code when that is safe, and bold markup is removed. */
function renderSpans(text: string): string {
  const parts = toOneLine(text.replaceAll('**', '')).split(/(`[^`]{1,200}`)/)
  return escapeLineStart(
    parts.map((part) => (/^`.+`$/.test(part) ? code(part.slice(1, -1)) : escapeMarkup(part))).join(''),
  )
}

/** Renders a table. Its cells are one line of Markdown each already. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** Keeps the first `max` lines; when there are more, the last entry says how many, for example `and 3 more`. */
export function capLines(lines: readonly string[], max: number): string[] {
  return lines.length > max ? [...lines.slice(0, max), `and ${lines.length - max} more`] : [...lines]
}

export const bulletList = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n')
