import { parseJsonTree } from '../../hcl/json.ts'
import { MAX_TOKENS } from '../../hcl/read.ts'
import type { HclEntry, HclValue } from '../../hcl/tree.ts'

/** Kinds of top-level blocks. Source: the root schemas of OpenTofu and Terraform; `//` is a comment of the JSON form. */
const KINDS = [
  ...['terraform', 'provider', 'variable', 'locals', 'output', 'module', 'resource', 'data', 'ephemeral'],
  ...['moved', 'removed', 'import', 'check', 'action', 'language', '//'],
]

/**
 * Explains why a text is no code in the JSON form, with line and column: no JSON, a key that stands twice in one
 * object, or a top level that is not of known blocks. Returns null for code, and for what `before` had as well.
 * Errors: `TooManyTokens` for a text of more than 1,000,000 characters, which may have too many.
 */
export function findJsonFault(text: string, before: string | null = null): string | null {
  const { root, fault } = parseJsonTree(text, MAX_TOKENS, false)
  if (fault !== null) return `the text is no JSON at line ${fault.line}, column ${fault.column}: ${fault.reason}`
  const known = before === null ? [] : faultsOf(parseJsonTree(before, MAX_TOKENS, false).root)
  return faultsOf(root).find(({ form }) => known.every((one) => one.form !== form))?.text ?? null
}

interface Fault {
  /** Equal for the same fault at another line. */
  form: string
  text: string
}

function faultsOf(root: HclValue): Fault[] {
  const parts = root.kind === 'array' ? root.items : [root]
  return [...parts.flatMap(topFaultsOf), ...duplicatesIn(root, '')]
}

function topFaultsOf(part: HclValue): Fault[] {
  if (part.kind !== 'object') return [{ form: 'top', text: 'the top level is neither an object nor a list of objects' }]
  return part.entries.flatMap(({ key, line, value }) => {
    if (!KINDS.includes(key ?? ''))
      return [{ form: `kind ${key}`, text: `${JSON.stringify(key)} in line ${line} is no kind of block` }]
    const isBlock = key === '//' || value.kind === 'object' || value.kind === 'array'
    return isBlock
      ? []
      : [{ form: `value ${key}`, text: `"${key}" in line ${line} is neither an object nor a list of objects` }]
  })
}

/** Finds keys that stand twice in one object; a path names the objects around it. */
function duplicatesIn(value: HclValue, path: string): Fault[] {
  if (value.kind === 'array') return value.items.flatMap((item, index) => duplicatesIn(item, `${path}[${index}]`))
  if (value.kind !== 'object') return []
  const first = new Map<string, HclEntry>()
  return value.entries.flatMap((entry) => {
    const key = entry.key ?? ''
    const earlier = first.get(key)
    if (!earlier) first.set(key, entry)
    const place = `${path}.${key}`
    const text = `the key ${JSON.stringify(key)} stands twice in one object, in lines ${earlier?.line} and ${entry.line}`
    const own = earlier && key !== '//' ? [{ form: `twice ${place}`, text }] : []
    return [...own, ...duplicatesIn(entry.value, place)]
  })
}
