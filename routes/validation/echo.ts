/** Keys whose values may hold a secret. Where a request is echoed, they are shown as null. */
const SECRET_KEYS = ['repo_uri'] as const
/** A password or token in an address, under whatever key it was sent. */
const SECRET_ADDRESS = /:\/\/[^\s/"@]*:[^\s/"]*@/
const MAX_LENGTH = 4_096

/** What a 422 answer shows of the request: null in place of values with secrets, very long ones and unusual ones. */
export function echo(value: unknown): unknown {
  const visible = withoutSecretKeys(value)
  try {
    const text = JSON.stringify(visible) ?? ''
    return text.length > MAX_LENGTH || SECRET_ADDRESS.test(text) ? null : visible
  } catch {
    // The value is nested so deeply that serialising it exceeds the stack.
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
