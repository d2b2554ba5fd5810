/** Records the successful tool calls of a chain, by name and parameters, since the workspace last changed. */
export interface CallMemory {
  /** Returns the id of the earlier successful call with the same name and parameters. */
  earlier(name: string, args: Record<string, unknown>): string | undefined
  remember(id: string, name: string, args: Record<string, unknown>): void
  /** Allows the model to repeat that call, because its result was cut out of the messages. */
  forget(id: string): void
  clear(): void
}

export function createCallMemory(): CallMemory {
  const calls = new Map<string, string>()
  return {
    earlier: (name, args) => calls.get(keyOf(name, args)),
    remember: (id, name, args) => {
      calls.set(keyOf(name, args), id)
    },
    forget: (id) => {
      for (const [key, call] of calls) if (call === id) calls.delete(key)
    },
    clear: () => calls.clear(),
  }
}

/** Returns the key of a call, without the parameter `explanation`, which does not affect the result. */
function keyOf(name: string, { explanation: _, ...parameters }: Record<string, unknown>): string {
  return `${name} ${JSON.stringify(sortKeys(parameters))}`
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  )
}
