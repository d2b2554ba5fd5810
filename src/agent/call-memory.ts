/**
 * What a chain already knows about the workspace as it is now: successful calls by name and parameters, and the tools
 * that answer once per state. A tool that mutates clears both.
 */
export interface CallMemory {
  /** Id of the earlier successful call with the same name and parameters. */
  earlier(name: string, args: Record<string, unknown>): string | undefined
  remember(id: string, name: string, args: Record<string, unknown>): void
  withdraw(name: string): void
  isWithdrawn(name: string): boolean
  /** The answer of that call is not there any more: it may be asked for again. */
  forget(id: string): void
  clear(): void
}

export function createCallMemory(): CallMemory {
  const calls = new Map<string, { id: string; name: string }>()
  const withdrawn = new Set<string>()
  return {
    earlier: (name, args) => calls.get(keyOf(name, args))?.id,
    remember: (id, name, args) => {
      calls.set(keyOf(name, args), { id, name })
    },
    withdraw: (name) => {
      withdrawn.add(name)
    },
    isWithdrawn: (name) => withdrawn.has(name),
    forget: (id) => {
      for (const [key, call] of calls) {
        if (call.id !== id) continue
        calls.delete(key)
        withdrawn.delete(call.name)
      }
    },
    clear: () => {
      calls.clear()
      withdrawn.clear()
    },
  }
}

/** `explanation` says why, not what: it does not make a call another one. */
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
