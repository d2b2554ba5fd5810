/** The diff out of what `diff_history` answered: the text itself or an object with a `diff`. */
export function diffText(result: string): string {
  try {
    const value: unknown = JSON.parse(result)
    if (typeof value === 'object' && value !== null && 'diff' in value && typeof value.diff === 'string') return value.diff
  } catch {}
  return result
}

const HEADER = /^(resource|module) "([^"]+)"(?: "([^"]+)")?/

/**
 * Addresses of the blocks in the engine root that a diff adds or changes. A change outside of such a
 * block (a variable, a local, a file of a module) may touch anything: null.
 */
export function changedAddresses(diff: string): string[] | null {
  const found = new Set<string>()
  let file = ''
  let block: string | null = null
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ ')) file = line.slice(4).replace(/^b\//, '').trim()
    else if (line.startsWith('diff ') || line.startsWith('@@')) block = addressOf(line.replace(/^@@.*?@@ ?/, ''))
    else if (/^[+ ]/.test(line) && !line.startsWith('+++')) {
      block = addressOf(line.slice(1)) ?? block
      if (line.startsWith('+') && line.slice(1).trim() !== '') {
        if (file.includes('/')) return null
        if (block) found.add(block)
      }
      if (line.slice(1) === '}') block = null
    }
  }
  return [...found]
}

function addressOf(line: string): string | null {
  const [, kind, first = '', second = ''] = HEADER.exec(line) ?? []
  if (!kind) return null
  return kind === 'module' ? `module.${first}` : `${first}.${second}`
}

/** Whether the diff shows the block of this address. */
export function touches(diff: string, address: string): boolean {
  const [, type = '', name = ''] = /^(?:module\.[^.]+\.)*([a-z0-9_]+)\.([A-Za-z0-9_-]+)/.exec(address) ?? []
  const addresses = changedAddresses(diff)
  return addresses === null || addresses.includes(`${type}.${name}`)
}
