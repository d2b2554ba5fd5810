/** A body of at most this many bytes whose text is hostile JSON. */
export interface HostileBody {
  name: string
  write: (bytes: number) => string
}

/** Repeats items, separated by commas, up to a number of bytes. */
function fill(bytes: number, [open, close]: readonly [string, string], item: (index: number) => string): string {
  const items: string[] = []
  for (let [index, size] = [0, open.length + close.length]; ; index++) {
    const next = item(index)
    size += Buffer.byteLength(next) + 1
    if (size > bytes) return open + items.join(',') + close
    items.push(next)
  }
}

const OBJECT = ['{', '}'] as const

export const HOSTILE_BODIES: readonly HostileBody[] = [
  { name: 'unknown keys', write: (bytes) => fill(bytes, OBJECT, (index) => `"k${index}":1`) },
  {
    name: 'unknown keys, just few enough',
    write: (bytes) => fill(Math.min(bytes, 95_000), OBJECT, (index) => `"k${index}":1`),
  },
  {
    name: 'unknown keys with objects',
    write: (bytes) => fill(Math.min(bytes, 190_000), OBJECT, (index) => `"k${index}":{"repo_uri":"x","a":[1]}`),
  },
  {
    name: 'unknown keys that almost hold addresses',
    write: (bytes) => fill(bytes, OBJECT, (index) => `"k${index}":"://${':'.repeat(4_000)}"`),
  },
  { name: 'one key many times', write: (bytes) => fill(bytes, OBJECT, () => '"q":1') },
  {
    name: 'keys that are numbers',
    write: (bytes) => fill(bytes, OBJECT, (index) => `"${4_000_000_000 - index * 7}":1`),
  },
  {
    name: 'names of the prototype',
    write: (bytes) => fill(bytes, OBJECT, () => '"__proto__":{"constructor":{"prototype":{}}}'),
  },
  { name: 'nested lists', write: (bytes) => `{"q":${'['.repeat(bytes / 2 - 3)}${']'.repeat(bytes / 2 - 3)}}` },
  { name: 'nested lists without an end', write: (bytes) => '['.repeat(bytes) },
  { name: 'nested objects', write: (bytes) => `${'{"a":'.repeat(bytes / 6 - 1)}1${'}'.repeat(bytes / 6 - 1)}` },
  { name: 'a list of numbers', write: (bytes) => fill(bytes, ['{"links":[', ']}'], () => '1') },
  { name: 'a list of wrong items', write: (bytes) => fill(Math.min(bytes, 55_000), ['{"links":[', ']}'], () => '{}') },
  { name: 'a list of audiences', write: (bytes) => fill(bytes, ['{"audience":[', ']}'], () => '"aaaaaaaa"') },
  { name: 'free facts', write: (bytes) => fill(bytes, ['{"context":{', '}}'], (index) => `"k${index}":"v"`) },
  ...['q', 'repo_uri', 'iac_path', 'scope_id', 'session_id', 'subject', 'body', 'workspace_path', 'identifier'].map(
    (key) => ({
      name: `a long ${key}`,
      write: (bytes: number) => `{"${key}":"${'x'.repeat(bytes - key.length - 8)}"}`,
    }),
  ),
  { name: 'an emoji for every character', write: (bytes) => `{"scope_id":"${'😀'.repeat((bytes - 20) / 4)}"}` },
  { name: 'escapes', write: (bytes) => `{"q":"${'\\u0041'.repeat((bytes - 10) / 6)}"}` },
  { name: 'a long address', write: (bytes) => `{"repo_uri":"https://a${'/@:'.repeat((bytes - 40) / 3)}"}` },
  { name: 'a number of many digits', write: (bytes) => `{"is_partial":${'9'.repeat(bytes - 20)}}` },
  { name: 'blanks', write: (bytes) => `{"q":1${' '.repeat(bytes - 10)}}` },
  { name: 'no JSON at its very end', write: (bytes) => `{"q":"${'x'.repeat(bytes - 10)}"` },
]
