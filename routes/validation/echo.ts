/** Keys whose value may carry a secret: shown as null wherever a request is echoed. */
const SECRET_KEYS = ['repo_uri'] as const

/** What a 422 answer may show of the request: never a URI, never text that was not understood. */
export function echo(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? null
  const shown: Record<string, unknown> = { ...value }
  for (const key of SECRET_KEYS) if (key in shown) shown[key] = null
  return shown
}

export const isSecretKey = (key: PropertyKey | undefined) => SECRET_KEYS.some((secret) => secret === key)
