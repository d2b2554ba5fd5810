const MAX_PATTERN = 300
const MAX_TEXT = 10_000

/**
 * Whether the whole text fits a pattern of a model: `*` is any text, `?` one character, `|` parts
 * alternatives; letter case does not count. Takes time of at most pattern by text, whatever they hold. What is
 * longer than 300 or 10,000 characters does not fit.
 */
export function fits(pattern: string, text: string): boolean {
  if (pattern.length > MAX_PATTERN || text.length > MAX_TEXT) return false
  const lower = text.toLowerCase()
  if (!/[*?|]/.test(pattern)) return pattern.trim().toLowerCase() === lower
  return pattern
    .toLowerCase()
    .split('|')
    .some((alternative) => fitsOne(alternative.trim(), lower))
}

/** Goes back to the last star only: the earlier ones already took the least they need. */
function fitsOne(pattern: string, text: string): boolean {
  let at = 0
  let p = 0
  let star = -1
  let resumed = 0
  while (at < text.length) {
    if (pattern[p] === '*') {
      star = p++
      resumed = at
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[at])) {
      p++
      at++
    } else if (star >= 0) {
      p = star + 1
      at = ++resumed
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}
