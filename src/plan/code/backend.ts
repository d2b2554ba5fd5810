import { itemsOf, type Json, memberOf, parseJson } from '../../base/json.ts'
import { readHcl } from '../../hcl/read.ts'

/**
 * Returns the type of the state backend that a file of the engine sets, `cloud` for a block of that name; null for none
 * and for any other file.
 * @param name with its extension
 */
export function backendIn(name: string, text: string): string | null {
  if (/\.(?:tf|tofu)\.json$/.test(name)) return backendInJson(parseJson(text))
  return /\.(?:tf|tofu)$/.test(name) && /\b(?:backend|cloud)\b/.test(text) ? backendInCode(text) : null
}

function backendInCode(text: string): string | null {
  for (const { type, body } of readHcl(text).body.blocks) {
    if (type !== 'terraform') continue
    const block = body.blocks.find((inner) => inner.type === 'backend' || inner.type === 'cloud')
    if (block) return block.type === 'cloud' ? 'cloud' : (block.labels[0] ?? '')
  }
  return null
}

/** Reads the JSON form, in which each level may be a list. */
function backendInJson(document: Json | undefined): string | null {
  for (const settings of listOf(memberOf(document, 'terraform'))) {
    if (memberOf(settings, 'cloud') !== undefined) return 'cloud'
    const [backend] = listOf(memberOf(settings, 'backend'))
    const [type] = Object.keys(backend ?? {})
    if (type !== undefined) return type
  }
  return null
}

const listOf = (value: Json | undefined): Json[] =>
  value === undefined ? [] : Array.isArray(value) ? itemsOf(value) : [value]
