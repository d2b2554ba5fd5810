/** Keys whose values may hold a secret. Where a request is echoed, they are shown as null. */
const SECRET_KEYS = ['repo_uri'] as const
/** A password or token in an address, under whatever key it was sent. It looks at each character a few times only. */
const SECRET_ADDRESS = /:\/\/[^\s/"@:]*:[^\s/"@]*@/
const MAX_LENGTH = 4_096

/** The part of the request that a 422 answer shows: null in place of values with secrets, very long ones and unusual ones. */
export function echo(value: unknown): unknown {
  if (remaining(value, MAX_LENGTH) < 0) return null
  const visible = withoutSecretKeys(value)
  const text = JSON.stringify(visible) ?? ''
  return text.length > MAX_LENGTH || SECRET_ADDRESS.test(text) ? null : visible
}

/**
 * The rest of a number of characters after a value has been written as JSON, or a negative number as soon as that
 * is certain. So a large value is not written out only to find that it is too long. A level of nesting costs at least
 * one character, which limits the depth as well.
 */
function remaining(value: unknown, budget: number): number {
  if (typeof value === 'string') return budget - value.length
  if (typeof value !== 'object' || value === null) return budget - 1
  let left = budget - 1
  for (const [key, member] of Object.entries(value)) {
    if (left < 0) break
    left = remaining(member, left - (Array.isArray(value) ? 0 : key.length))
  }
  return left
}

export const isSecretKey = (key: PropertyKey | undefined) => SECRET_KEYS.some((secret) => secret === key)

function withoutSecretKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? null
  const shown: Record<string, unknown> = { ...value }
  for (const key of SECRET_KEYS) if (Object.hasOwn(shown, key)) shown[key] = null
  return shown
}
