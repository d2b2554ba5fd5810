export interface CodeExample {
  language: string
  code: string
  /** Of the first line of code in the text, counted from 1. */
  line: number
}

/**
 * Fenced code of a markdown text, and its lines with that code blanked out.
 * `open` is the line of a fence that nothing closes, null when there is none.
 */
export function partsOf(markdown: string): { prose: string[]; examples: CodeExample[]; open: number | null } {
  const prose: string[] = []
  const examples: CodeExample[] = []
  let inside = false
  markdown.split('\n').forEach((text, index) => {
    const language = /^\s*```(.*)$/.exec(text)?.[1]?.trim()
    if (language !== undefined && !inside) examples.push({ language, code: '', line: index + 2 })
    const example = examples.at(-1)
    if (language === undefined && inside && example !== undefined) example.code += `${text}\n`
    prose.push(inside || language !== undefined ? '' : text)
    if (language !== undefined) inside = !inside
  })
  return { prose, examples, open: inside ? (examples.at(-1)?.line ?? 2) - 1 : null }
}

/** The same line without its code in backticks. */
export const withoutCode = (line: string): string => line.replaceAll(/`[^`]*`/g, '``')

export const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length
