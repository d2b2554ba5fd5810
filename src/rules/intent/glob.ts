const MAX_PATTERN = 300

const MAX_TEXT = 10_000

/**
 * Reports whether a whole text fits a pattern that a model wrote: `*` stands for any text, `?` for one character, `|`
 * separates alternatives, and letter case does not matter. The time grows with the length of the pattern times that of
 * the text at worst, unlike that of a regular expression. A pattern of more than 300 characters, or a text of more than
 * 10,000, does not fit.
 */
export function fits(pattern: string, text: string): boolean {
  if (pattern.length > MAX_PATTERN || text.length > MAX_TEXT) return false
  const lower = text.toLowerCase()
  if (!/[*?|]/.test(pattern)) return pattern.trim().toLowerCase() === lower
  return pattern
    .toLowerCase()
    .split('|')
    .some((alternative) => fitsAlternative(alternative.trim(), lower))
}

/**
 * Matches one alternative. After a mismatch only the last star has to take one character more: the stars before it have
 * already matched as little as they can.
 */
function fitsAlternative(pattern: string, text: string): boolean {
  let at = 0
  let next = 0
  let star = -1
  let resumed = 0
  while (at < text.length) {
    if (pattern[next] === '*') {
      star = next++
      resumed = at
    } else if (next < pattern.length && (pattern[next] === '?' || pattern[next] === text[at])) {
      next++
      at++
    } else if (star >= 0) {
      next = star + 1
      at = ++resumed
    } else return false
  }
  while (pattern[next] === '*') next++
  return next === pattern.length
}
