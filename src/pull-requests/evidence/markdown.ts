import { cutEnd } from '../../base/text.ts'

// Converts untrusted text to Markdown for hosts with different dialects. The result is one line without markup, links,
// images, mentions, references, quick actions or keywords that close an issue.

/** A zero-width space, which keeps a host from recognising what it interrupts. */
const BREAK = '\u200b'

/** Turns a text into one line without control and invisible characters, such as text direction marks. */
const toOneLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()

/** Breaks links, mentions and references with an invisible character, so that `Fixes #12` closes no issue. */
const breakLinks = (text: string): string =>
  text
    .replaceAll(/([#!&%~$^@])(?=[\p{L}\p{N}_"'{[(])/gu, `$1${BREAK}`)
    .replaceAll(/(?<=[a-z][a-z0-9+.-]*:)(?=\/\/)|(?<=\b(?:mailto|xmpp|tel|javascript|data):)/gi, BREAK)
    .replaceAll(/\b(www)(?=\.)/gi, `$1${BREAK}`)
    .replaceAll(/\b([A-Z][A-Z0-9_]+-|[gG][hH]-|\[[a-z_]+:)(?=\d)/g, `$1${BREAK}`)
    .replaceAll(SKIPS, (word) => `${word}${BREAK}`)

/** Directives of hosts that keep the checks of a commit from running: a merge copies title and description into one. */
const SKIPS = /\[(?=(?:skip|no|ci|actions|az\w+)[ -](?:skip|ci|actions|az\w+)\])|\bskip(?=-checks\s*:)|\*{3}NO(?=_CI)/gi
/** The beginning of a title by which a host recognises a draft, which it does not merge. */
const DRAFT = /^([[(]?)(?=(?:draft|wip)\b(?:[\])]|\s*[:-]))/i

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Escapes all markup, except underscores within words, which no dialect reads as emphasis. */
const escapeMarkup = (text: string): string =>
  breakLinks(text)
    .replaceAll(/[\\`*[\]|~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
    .replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character)

/** Escapes the start of a list, heading, rule, table or quick action at the start of a line. */
const escapeLineStart = (line: string): string => line.replace(/^\d+(?=[.)])|^(?=[-+=#:/!^])/, (start) => `${start}\\`)

/** Turns a text into one line of Markdown for the start of a line, a list entry or a table cell. */
export const inline = (text: string, max = 400): string => escapeLineStart(escapeMarkup(cutEnd(toOneLine(text), max)))

const PLAIN_CODE = /^[\w.\-"/:=[\]() ]+$/

/** Shows an address, path or identifier as code if that is safe, else as escaped text. */
export function code(text: string, max = 200): string {
  const line = cutEnd(toOneLine(text), max)
  return PLAIN_CODE.test(line) && breakLinks(line) === line ? `\`${line}\`` : escapeLineStart(escapeMarkup(line))
}

/** Turns a text into a title; hosts read references there and in squashed commit messages, but no markup. */
export const plainTitle = (text: string, max: number): string =>
  cutEnd(breakLinks(toOneLine(text)).replace(DRAFT, `$1${BREAK}`), max)

/** Turns a model's prose into at most `max` UTF-16 units of Markdown: paragraphs, lists, inline code, bold headings. */
export function prose(text: string, max: number): string {
  const lines: string[] = []
  let length = 0
  for (const raw of text.replaceAll(/\r\n?/g, '\n').split('\n')) {
    const line = renderProseLine(cutEnd(raw, max))
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

/** Renders one line of prose: inline code stays if safe, bold markup is removed. */
function renderSpans(text: string): string {
  const parts = toOneLine(text.replaceAll('**', '')).split(/(`[^`]{1,200}`)/)
  return escapeLineStart(
    parts.map((part) => (/^`.+`$/.test(part) ? code(part.slice(1, -1)) : escapeMarkup(part))).join(''),
  )
}

/** Renders a table whose cells are each one line of Markdown. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** Keeps the first `max` lines; a last entry counts the others, for example `and 3 more`. */
export function capLines(lines: readonly string[], max: number): string[] {
  return lines.length > max ? [...lines.slice(0, max), `and ${lines.length - max} more`] : [...lines]
}

export const bulletList = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n')
