import { DATA_RULE } from './fence.ts'

/** The parts of a system prompt. Prompt bodies are inserted unchanged, without rendering. */
export interface Layout {
  role: string
  rules: readonly string[]
  /** Title and text; an empty text omits the block. */
  blocks?: readonly (readonly [title: string, text: string])[]
  /** The end of the task: names the result tool, or the form of a plain answer. */
  finish: string
}

export function renderLayout({ role, rules, blocks = [], finish }: Layout): string {
  const numbered = rules.map((rule, index) => `${index + 1}. ${rule}`).join('\n')
  const filled = blocks.filter(([, text]) => text.trim() !== '').map(([title, text]) => section(title, text.trim()))
  return [
    section('Role', role),
    section('Rules', numbered),
    ...filled,
    section('Data', DATA_RULE),
    section('Finish', finish),
  ].join('\n\n')
}

const section = (title: string, text: string) => `## ${title}\n\n${text}`

/** Joins the parts of a query that have a text. */
export const joinParts = (...parts: (string | false | null)[]): string => parts.filter(Boolean).join('\n\n')

export const joinBodies = (bodies: readonly string[]) => bodies.map((body) => body.trim()).join('\n\n')

/** Writes a list with one item a line. An item that starts with a bullet keeps only one. */
export const bullets = (items: readonly string[]) => items.map((item) => `- ${withoutBullet(item)}`).join('\n')

export const withoutBullet = (item: string) => item.replace(/^\s*[-*]\s+/, '')
