/**
 * Markdown from text of models, plans, repositories and requests, for hosts with different dialects. What
 * comes out is one line without markup, links, images, mentions, references, closing keywords that reach
 * an issue, or quick actions.
 */
const BREAK = '\u200b'

/** One line without control, direction or other invisible characters. */
const flat = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()

/** At most `max` UTF-16 units, the mark of the cut included; never half a character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text
    .slice(0, Math.max(0, max - 1))
    .toWellFormed()
    .replace(/\ufffd$/, '')
    .trimEnd()}…`
}

/**
 * An invisible character inside of what a host would turn into a mention, a reference to an issue, merge
 * request, milestone, label or tracker, or a link. It looks the same, and `Fixes` before it closes nothing.
 */
const unlinked = (text: string): string =>
  text
    .replaceAll(/([#!&%~$^@])(?=[\p{L}\p{N}_"'{[(])/gu, `$1${BREAK}`)
    .replaceAll(/(?<=[a-z][a-z0-9+.-]*:)(?=\/\/)|(?<=\b(?:mailto|xmpp|tel|javascript|data):)/gi, BREAK)
    .replaceAll(/\b(www)(?=\.)/gi, `$1${BREAK}`)
    .replaceAll(/\b([A-Z][A-Z0-9_]+-|gh-|\[[a-z_]+:)(?=\d)/g, `$1${BREAK}`)

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Letters of a word keep their underscores: no dialect reads those as emphasis. */
const escaped = (text: string): string =>
  unlinked(text)
    .replaceAll(/[\\`*[\]|~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
    .replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character)

/** What begins a list, heading, rule, table or quick action at the start of a line. */
const guarded = (line: string): string => line.replace(/^\d+(?=[.)])|^(?=[-+=#:/!^])/, (start) => `${start}\\`)

/** A text as one line that may stand at the start of a line, in a list or in the cell of a table. */
export const inline = (text: string, max = 400): string => guarded(escaped(cut(flat(text), max)))

const PLAIN_CODE = /^[\w.\-"/:=[\]() ]+$/
const TRACKED = /:\/\/|\b[wW]{3}\.|\b[A-Z][A-Z0-9_]+-\d|\b[gG][hH]-\d/

/** An address, a path, an identifier: code where nothing in it could end the code or become a link. */
export function code(text: string, max = 200): string {
  const line = cut(flat(text), max)
  return PLAIN_CODE.test(line) && !TRACKED.test(line) ? `\`${line}\`` : guarded(escaped(line))
}

/** A title: no markup is read there, but references are, and a squashed commit repeats it. */
export const plainTitle = (text: string, max: number): string => cut(unlinked(flat(text)), max)

/**
 * Prose of a model over several lines: paragraphs, lists and code of one line stay, headings become bold,
 * all other markup is shown as text.
 * @param max UTF-16 units of the result
 */
export function prose(text: string, max: number): string {
  const lines: string[] = []
  let length = 0
  for (const raw of text.replaceAll(/\r\n?/g, '\n').split('\n')) {
    const line = proseLine(cut(raw, max))
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

function proseLine(raw: string): string | null {
  if (/^\s*(`{3,}|~{3,})/.test(raw)) return null
  const item = /^(\s*)(?:[-*+]|(\d{1,3})[.)])\s+(\S.*)$/.exec(raw)
  if (item) return `${item[1] ? '  ' : ''}${item[2] ? `${item[2]}.` : '-'} ${spans(item[3] ?? '')}`
  const heading = /^\s*#{1,6}\s+(\S.*)$/.exec(raw)?.[1]
  return heading ? `**${inline(heading)}**` : spans(raw)
}

/** Code of one line stays code where that is safe, emphasis goes. */
function spans(text: string): string {
  const parts = flat(text.replaceAll('**', '')).split(/(`[^`]{1,200}`)/)
  return guarded(parts.map((part) => (/^`.+`$/.test(part) ? code(part.slice(1, -1)) : escaped(part))).join(''))
}

/** A table; cells are markdown of one line already. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** The first `max` lines, and how many are missing. */
export function capped(lines: readonly string[], max: number): string[] {
  return lines.length > max ? [...lines.slice(0, max), `and ${lines.length - max} more`] : [...lines]
}

export const bulleted = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n')
