import { addressOf } from './blocks.ts'

/** The diff out of what `diff_history` answered: the text itself or an object with a `diff`. */
export function diffText(result: string): string {
  try {
    const value: unknown = JSON.parse(result)
    if (typeof value === 'object' && value !== null && 'diff' in value && typeof value.diff === 'string')
      return value.diff
  } catch {}
  return result
}

/** A changed line with where it stands; `address` is null outside of resource and module blocks. */
export interface ChangedLine {
  file: string
  address: string | null
  sign: '+' | '-'
  text: string
}

/** The lines that a diff takes out and puts in, blank ones left out. */
export function changedLines(diff: string): ChangedLine[] {
  const found: ChangedLine[] = []
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
        found.push({ file, address, sign: line[0] as '+' | '-', text: line.slice(1).trim() })
      if (line.slice(1) === '}') address = null
    }
  }
  return found
}

/**
 * Addresses of the blocks in the engine root that a diff adds, changes or removes. What may touch
 * anything, a file of a module or a shared value that was changed or removed, answers null; a value
 * that was only added is used by added blocks alone.
 */
export function changedAddresses(diff: string): string[] | null {
  const found = new Set<string>()
  for (const { file, address, sign, text } of changedLines(diff)) {
    if (file.includes('/')) return null
    if (address) found.add(address)
    else if (sign === '-' && VALUE.test(text)) return null
  }
  return [...found]
}

const VALUE = /^"?[\w-]+"? *=/

/** Whether the diff shows the block of this address. */
export function touches(diff: string, address: string): boolean {
  const [, type = '', name = ''] = /^(?:module\.[^.]+\.)*([a-z0-9_]+)\.([A-Za-z0-9_-]+)/.exec(address) ?? []
  const addresses = changedAddresses(diff)
  return addresses === null || addresses.includes(`${type}.${name}`)
}
