/**
 * Remembers the successful tool calls of a chain since the workspace was last changed, by name and parameters. It is
 * cleared after a tool that changes the workspace.
 */
export interface CallMemory {
  /** Id of the earlier successful call with the same name and parameters. */
  earlier(name: string, args: Record<string, unknown>): string | undefined
  remember(id: string, name: string, args: Record<string, unknown>): void
  /** Lets the model make that call again, because its answer was cut out of the messages. */
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

/**
 * The key of a call. The parameter `explanation` is left out, because it says why a call is made: two calls that differ
 * in nothing else have the same answer.
 */
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
