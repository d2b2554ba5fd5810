const BULLET = /^\s*[-*+]\s+(\S.*)$/

/**
 * Identifiers that are never imported: the bullets of a markdown list. An identifier in backticks may be
 * followed by a remark; one without them is the whole line, since identifiers may hold blanks.
 */
export const importExceptions = (markdown: string): string[] =>
  markdown.split(/\r?\n/).flatMap((line) => {
    const text = BULLET.exec(line)?.[1]?.trim()
    if (text === undefined) return []
    const id = /^`([^`]+)`/.exec(text)?.[1]?.trim() ?? text
    return id === '' ? [] : [id]
  })
