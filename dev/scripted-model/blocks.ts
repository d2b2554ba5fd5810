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
