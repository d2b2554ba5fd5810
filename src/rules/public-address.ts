/** Texts that mean every address. */
const WORDS = new Map([
  ['*', 'any address'],
  ['any', 'any address'],
  ['internet', 'the internet'],
  ['0.0.0.0', 'all IPv4 addresses'],
  ['::', 'all IPv6 addresses'],
])
/** Longest prefix that counts as the internet; the largest private networks are 10.0.0.0/8 and fc00::/7. */
const MAX_IPV4_PREFIX = 7
const MAX_IPV6_PREFIX = 3

/** Returns the public audience of a CIDR block or a word such as `internet`; null for a smaller range. */
export function openTo(range: string): string | null {
  const text = range.trim().toLowerCase()
  const word = WORDS.get(text)
  if (word !== undefined) return word
  const [, address = '', length = ''] = /^([0-9a-f.:]+)\/(\d{1,3})$/.exec(text) ?? []
  if (length === '') return null
  if (address.includes(':')) return Number(length) <= MAX_IPV6_PREFIX ? 'all IPv6 addresses' : null
  return Number(length) <= MAX_IPV4_PREFIX ? 'all IPv4 addresses' : null
}

/** Returns the distinct public audiences of several ranges. */
export const audiencesOf = (ranges: readonly string[]): string[] => [
  ...new Set(ranges.map(openTo).filter((audience) => audience !== null)),
]

/** Counts the addresses of an IPv4 range; 0 when it is invalid. */
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
