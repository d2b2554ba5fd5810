type Parameter = string | number | boolean | null | Uint8Array

/** A value as the driver sends it: lists as array literals, dates as texts, other objects as JSON. */
export function toParameter(value: unknown): Parameter {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) return value
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return arrayLiteral(value)
  if (typeof value === 'object') return JSON.stringify(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  throw new Error(`a ${typeof value} is not a value of a statement`)
}

function arrayLiteral(list: readonly unknown[]): string {
  const element = (value: unknown): string => {
    if (Array.isArray(value)) return arrayLiteral(value)
    const parameter = toParameter(value)
    if (parameter === null) return 'NULL'
    const text = parameter instanceof Uint8Array ? `\\x${hex(parameter)}` : String(parameter)
    return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
  }
  return `{${list.map(element).join(',')}}`
}

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
