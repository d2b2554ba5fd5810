/** Reading and editing blocks of the engine's language, as far as recordings need it. */

const HEADER = /^(resource|module) "([^"]+)"(?: "([^"]+)")? \{/

/** Returns the header line of the block with this address; null for an address inside a module. */
export function headerOf(address: string): string | null {
  const [, type = '', name = ''] = /^([a-z0-9_]+)\.([A-Za-z0-9_-]+)(?:\[[^\]]*\])?$/.exec(address) ?? []
  return type && type !== 'module' ? `resource "${type}" "${name}" {` : null
}

/** Reads the address of the block that a line opens; null for any other line. */
export function addressOf(line: string): string | null {
  const [, kind, first = '', second = ''] = HEADER.exec(line) ?? []
  if (!kind) return null
  return kind === 'module' ? `module.${first}` : `${first}.${second}`
}

/** Finds a whole top-level block, from its header to the closing brace in the first column; null if there is none. */
export function findBlock(text: string, header: string): string | null {
  const start = `\n${text}`.indexOf(`\n${header}\n`)
  if (start < 0) return null
  const end = text.indexOf('\n}', start)
  return end < 0 ? null : text.slice(start, end + 2)
}

/** Writes a scalar in the engine's language. */
const literal = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value).replace(/[$%](?=\{)/g, '$&$&') : String(value)

/**
 * Replaces the value of an attribute in a block. Returns null if the attribute is not there exactly once with the
 * expected value, for example because it is a reference.
 * @param path as in a drift document, for example `input.retention_days`
 */
export function setAttribute(block: string, path: string, from: unknown, to: unknown): string | null {
  const name = path.split('.').at(-1) ?? ''
  const line = new RegExp(`^( *"?${name.replace(/[^\w-]/g, '\\$&')}"? *= *)(.*)$`, 'gm')
  const matches = [...block.matchAll(line)].filter((match) => match[2] === literal(from))
  const [only] = matches
  if (!only || matches.length > 1) return null
  return block.slice(0, only.index) + only[1] + literal(to) + block.slice(only.index + only[0].length)
}

/** Writes one edit of `replace_in_file`. */
export const searchReplace = (search: string, by: string): string =>
  `<<<<<<< SEARCH\n${search}\n=======\n${by}\n>>>>>>> REPLACE`

/** A changed line and its block. `address` is null outside of resource and module blocks. */
interface ChangedLine {
  file: string
  address: string | null
  sign: '+' | '-'
  text: string
}

/** Lists the lines that a diff removes and adds, without blank ones. */
export function changedLines(diff: string): ChangedLine[] {
  const lines: ChangedLine[] = []
  let file = ''
  let address: string | null = null
  for (const line of diff.split('\n')) {
    const name = /^(?:\+\+\+|---) (?:[ab]\/)?(.+)$/.exec(line)?.[1]?.trim()
    if (name !== undefined) {
      if (name !== '/dev/null') file = name
    } else if (line.startsWith('diff ') || line.startsWith('@@')) address = addressOf(line.replace(/^@@.*?@@ ?/, ''))
    else if (/^[-+ ]/.test(line)) {
      address = addressOf(line.slice(1)) ?? address
      if (line[0] !== ' ' && line.slice(1).trim() !== '')
        lines.push({ file, address, sign: line[0] as '+' | '-', text: line.slice(1).trim() })
      if (line.slice(1) === '}') address = null
    }
  }
  return lines
}

/**
 * Finds the addresses of the blocks in the engine root that a diff adds, changes or removes. Null if the change may
 * affect any block: a file of a module, or a changed or removed shared value. A new shared value affects only added
 * blocks.
 */
export function changedAddresses(diff: string): string[] | null {
  const addresses = new Set<string>()
  for (const { file, address, sign, text } of changedLines(diff)) {
    if (file.includes('/')) return null
    if (address) addresses.add(address)
    else if (sign === '-' && VALUE.test(text)) return null
  }
  return [...addresses]
}

const VALUE = /^"?[\w-]+"? *=/

/** Reports whether the diff shows the block of this address. */
export function touches(diff: string, address: string): boolean {
  const [, type = '', name = ''] = /^(?:module\.[^.]+\.)*([a-z0-9_]+)\.([A-Za-z0-9_-]+)/.exec(address) ?? []
  const addresses = changedAddresses(diff)
  return addresses === null || addresses.includes(`${type}.${name}`)
}

const HEAD = /^--- (.+) \((new file, whole|changed|renamed|deleted)\) ---$/

/** Returns a diff from a query in the form that `changedLines` reads. Empty if nothing has changed. */
export function shownDiff(shown: string | undefined): string {
  let isNew = false
  return (shown ?? '')
    .split('\n')
    .flatMap((line) => {
      const [, path, kind] = HEAD.exec(line) ?? []
      if (path === undefined) return [isNew ? `+${line}` : line]
      isNew = kind === 'new file, whole'
      return ['diff', `+++ ${path}`]
    })
    .join('\n')
}
