/** Marks the heading of a section about writing code, of which a plan shows nothing. */
const CODE_ONLY = /\(code only\)$/i

/** Sections of resource templates about code and its history. Their headings are the same in every shipped template. */
const OF_TEMPLATES = new Set(['dependencies', 'common mistakes', 'import and drift'])

/** Returns a prompt body for a reader of plans: without the sections whose heading ends in `(code only)`. */
export const withoutCodeSections = (body: string): string => withoutSections(body, (title) => CODE_ONLY.test(title))

/** Returns a prompt body for a writer of code: whole, without the marks in its headings. */
export const withoutMarks = (body: string): string =>
  body.replaceAll(/^(#{1,6}[ \t].*?)[ \t]*\(code only\)[ \t]*$/gim, '$1')

/** Does the same for a resource template, whose sections about code have fixed names. */
export const templateForPlans = (body: string): string =>
  withoutSections(body, (title) => CODE_ONLY.test(title) || OF_TEMPLATES.has(title.toLowerCase()))

/**
 * Omits the sections with these headings, each up to the next heading of its level or above. Lines in a block of code
 * are no headings. Returns the empty text when only headings are left.
 */
function withoutSections(body: string, isLeftOut: (title: string) => boolean): string {
  const kept: string[] = []
  let leftOutLevel: number | null = null
  let isCode = false
  let hasText = false
  for (const line of body.split('\n')) {
    if (/^\s*```/.test(line)) isCode = !isCode
    const [, marks, title = ''] = isCode ? [] : (/^(#{1,6})\s+(.*?)\s*$/.exec(line) ?? [])
    if (marks !== undefined && (leftOutLevel === null || marks.length <= leftOutLevel))
      leftOutLevel = isLeftOut(title) ? marks.length : null
    if (leftOutLevel !== null) continue
    kept.push(line)
    hasText ||= marks === undefined && line.trim() !== ''
  }
  return hasText ? kept.join('\n').trim() : ''
}
