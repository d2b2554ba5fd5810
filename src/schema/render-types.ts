import { renderType } from './render-type.ts'
import { keyOf, type TypeSchema } from './types.ts'

/** Characters of one type at most, and of all of them together. */
export interface SchemaRoom {
  type: number
  total: number
}

/** Schemas as text, in the given order, as far as there is room; `told` holds the keys of those that are in it. */
export function renderTypes(schemas: readonly TypeSchema[], room: SchemaRoom): { text: string; told: string[] } {
  const parts: string[] = []
  const told: string[] = []
  let left = room.total
  for (const schema of schemas) {
    const text = renderType(schema, Math.min(room.type, left))
    if (text === null || text.length > left) continue
    parts.push(text)
    told.push(keyOf(schema))
    left -= text.length + 2
    if (left <= 0) break
  }
  return { text: parts.join('\n\n'), told }
}
