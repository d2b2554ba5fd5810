/** Keys whose value may carry a secret: shown as null wherever a request is echoed. */
const SECRET_KEYS = ['repo_uri'] as const
/** A password or token inside of an address, under whatever key it came. */
const SECRET_ADDRESS = /:\/\/[^\s/"@]*:[^\s/"]*@/
const MAX_LENGTH = 4_096

/** What a 422 answer may show of the request; null in place of anything secret, long or odd. */
export function echo(value: unknown): unknown {
  const visible = withoutSecretKeys(value)
  try {
    const text = JSON.stringify(visible) ?? ''
    return text.length > MAX_LENGTH || SECRET_ADDRESS.test(text) ? null : visible
  } catch {
    // Nested deeper than the stack.
    return null
  }
}

export const isSecretKey = (key: PropertyKey | undefined) => SECRET_KEYS.some((secret) => secret === key)

function withoutSecretKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? null
  const shown: Record<string, unknown> = { ...value }
  for (const key of SECRET_KEYS) if (key in shown) shown[key] = null
  return shown
}
