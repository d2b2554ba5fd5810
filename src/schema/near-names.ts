const words = (name: string) => new Set(name.toLowerCase().split(/[_-]+/).filter(Boolean))

/** Names that share the most words with a name that does not exist, best first; at most `count`. */
export function nearNames(name: string, known: readonly string[], count = 5): string[] {
  const asked = words(name)
  const prefix = name.split('_', 1)[0] ?? ''
  return known
    .map((other) => ({ other, score: likeness(asked, words(other)) + (other.startsWith(`${prefix}_`) ? 0.1 : 0) }))
    .filter(({ score }) => score >= 0.4)
    .sort((a, b) => b.score - a.score || a.other.length - b.other.length || (a.other < b.other ? -1 : 1))
    .slice(0, count)
    .map(({ other }) => other)
}

/** Shared words of all words. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length
  return shared / (a.size + b.size - shared || 1)
}
