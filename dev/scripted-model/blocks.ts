/** Reading and editing blocks of the engine's language, as far as recordings need it. */

const HEADER = /^(resource|module) "([^"]+)"(?: "([^"]+)")? \{/

/** The header line of the block that an address of the root names; null for addresses inside of modules. */
export function headerOf(address: string): string | null {
  const [, type = '', name = ''] = /^([a-z0-9_]+)\.([A-Za-z0-9_-]+)(?:\[[^\]]*\])?$/.exec(address) ?? []
  return type && type !== 'module' ? `resource "${type}" "${name}" {` : null
}

/** Address of the block that this line opens, or null. */
export function addressOf(line: string): string | null {
  const [, kind, first = '', second = ''] = HEADER.exec(line) ?? []
  if (!kind) return null
  return kind === 'module' ? `module.${first}` : `${first}.${second}`
}

/** A whole top-level block, from its header to the brace in the first column; null when it is not there. */
export function blockIn(text: string, header: string): string | null {
  const start = `\n${text}`.indexOf(`\n${header}\n`)
  if (start < 0) return null
  const end = text.indexOf('\n}', start)
  return end < 0 ? null : text.slice(start, end + 2)
}

/** A scalar as the language writes it. */
const literal = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value).replace(/[$%](?=\{)/g, '$&$&') : String(value)

/**
 * Writes another literal for an attribute of a block. Null when the attribute does not stand there
 * exactly once with the value that is expected, for example because it is a reference.
 * @param path as in a drift document, for example `input.retention_days`
 */
export function withAttribute(block: string, path: string, from: unknown, to: unknown): string | null {
  const name = path.split('.').at(-1) ?? ''
  const line = new RegExp(`^( *"?${name.replace(/[^\w-]/g, '\\$&')}"? *= *)(.*)$`, 'gm')
  const found = [...block.matchAll(line)].filter((match) => match[2] === literal(from))
  const [only] = found
  if (!only || found.length > 1) return null
  return block.slice(0, only.index) + only[1] + literal(to) + block.slice(only.index + only[0].length)
}

/** One edit of `replace_in_file`. */
export const searchReplace = (search: string, by: string): string =>
  `<<<<<<< SEARCH\n${search}\n=======\n${by}\n>>>>>>> REPLACE`
