import { keyOf, type TypeName } from './types.ts'

const DECLARED = /^[+\- ]?\s*(resource|data)\s+"?([A-Za-z][\w-]*)"?\s+"?[\w-]+"?/gm
/** As engines say where they are: `in resource "aws_s3_bucket" "logs"`. */
const QUOTED = /\b(resource|data)\s+"([A-Za-z][\w-]*)"/g
const DATA_ADDRESS = /\bdata\.([a-z][a-z0-9]*_[a-z0-9_]+)\b/g
const WORD = /(?<![\w./"-])([a-z][a-z0-9]*_[a-z0-9_]+)(?![\w/-])/g

/** Types that code declares, a diff changes or a diagnostic quotes, in order of first occurrence. */
export function declaredTypes(code: string): TypeName[] {
  const found = [...code.matchAll(DECLARED)].map(
    ([, mode, type = '']): TypeName => ({ mode: mode === 'data' ? 'data' : 'resource', type }),
  )
  return unique(found)
}

/** Types that prose or addresses name: whatever looks like one; the names of the providers decide. */
export function mentionedTypes(text: string): TypeName[] {
  const quoted = [...text.matchAll(QUOTED)].map(
    ([, mode, type = '']): TypeName => ({ mode: mode === 'data' ? 'data' : 'resource', type }),
  )
  const data = [...text.matchAll(DATA_ADDRESS)].map(([, type = '']): TypeName => ({ mode: 'data', type }))
  const words = [...text.matchAll(WORD)].map(([, type = '']): TypeName => ({ mode: 'resource', type }))
  return unique([...quoted, ...words, ...data])
}

/** Without repetitions; the first stays. */
export function unique(types: readonly TypeName[]): TypeName[] {
  const seen = new Map<string, TypeName>()
  for (const type of types) if (!seen.has(keyOf(type))) seen.set(keyOf(type), type)
  return [...seen.values()]
}
