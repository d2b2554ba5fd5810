/** Words that stand for every address. */
const WORDS = new Map([
  ['*', 'any address'],
  ['any', 'any address'],
  ['internet', 'the internet'],
  ['0.0.0.0', 'all IPv4 addresses'],
  ['::', 'all IPv6 addresses'],
])
/** Longest prefix that counts as the internet: shorter than the largest private network (10.0.0.0/8, fc00::/7). */
const MAX_IPV4_PREFIX = 7
const MAX_IPV6_PREFIX = 3

/** Who is let in by a CIDR or a word that means everyone (or most of the internet); null for a narrower range. */
export function openTo(range: string): string | null {
  const text = range.trim().toLowerCase()
  const word = WORDS.get(text)
  if (word !== undefined) return word
  const [, address = '', length = ''] = /^([0-9a-f.:]+)\/(\d{1,3})$/.exec(text) ?? []
  if (length === '') return null
  if (address.includes(':')) return Number(length) <= MAX_IPV6_PREFIX ? 'all IPv6 addresses' : null
  return Number(length) <= MAX_IPV4_PREFIX ? 'all IPv4 addresses' : null
}

/** The widest audience of several ranges, without repeats. */
export const audiencesOf = (ranges: readonly string[]): string[] => [
  ...new Set(ranges.map(openTo).filter((audience) => audience !== null)),
]

/** How many addresses an IPv4 range from `start` to `end` holds; 0 when it is none. */
export function ipv4Count(start: string, end: string): number {
  const first = ipv4(start)
  const last = ipv4(end)
  return first === null || last === null || last < first ? 0 : last - first + 1
}

function ipv4(text: string): number | null {
  const parts = text.trim().split('.')
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return null
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0)
}
