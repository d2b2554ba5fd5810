/** Conditions of a statement, and what stands there instead. */
const SWAPS: readonly [RegExp, string][] = [
  [/\bAND\b/g, 'OR'],
  [/\bOR\b(?! REPLACE)/g, 'AND'],
  [/\bIS NULL\b/g, 'IS NOT NULL'],
  [/\bIS NOT NULL\b/g, 'IS NULL'],
  [/\bNOT EXISTS\b/g, 'EXISTS'],
  [/(?<!NOT )\bEXISTS\b(?= ?\()/g, 'NOT EXISTS'],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ <> /g, ' = '],
]
/** An equals sign that compares; one that follows SET, or a comma after it, assigns. */
const COMPARED = /(?<=\b(?:WHERE|AND|OR|ON|NOT) \(?[\w.]+) = /g

/**
 * A template literal with one condition of its SQL changed, once for each condition; none for a template that
 * holds no statement. What stands in `${…}` is left alone, as far as it holds no such word itself.
 */
export function mutateSql(template: string): string[] {
  if (!/\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\b/.test(template)) return []
  const swaps: readonly [RegExp, string][] = [...SWAPS, [COMPARED, ' <> ']]
  return swaps.flatMap(([pattern, replacement]) =>
    [...template.matchAll(pattern)].map(
      ({ index, 0: found }) => template.slice(0, index) + replacement + template.slice(index + found.length),
    ),
  )
}
