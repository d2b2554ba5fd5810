const MAX_PATTERN = 300

const MAX_TEXT = 10_000

/**
 * Reports whether a text fits a model's pattern: `*` any text, `?` one character, `|` alternatives, any letter case.
 * Time is at worst the product of both lengths, unlike a regular expression's. Patterns over 300 characters and texts
 * over 10,000 do not fit.
 */
export function fits(pattern: string, text: string): boolean {
  if (pattern.length > MAX_PATTERN || text.length > MAX_TEXT) return false
  const lower = text.toLowerCase()
  if (!/[*?|]/.test(pattern)) return pattern.trim().toLowerCase() === lower
  return pattern
    .toLowerCase()
    .split('|')
    .some((alternative) => fitsGlob(alternative.trim(), lower))
}

/**
 * Reports whether a text fits a pattern of `*` and `?`, with their letter case. Backtracking to the last star suffices,
 * since earlier stars matched minimally.
 */
export function fitsGlob(pattern: string, text: string): boolean {
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
