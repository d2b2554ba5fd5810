import { isJsonObject } from '../base/json.ts'

/** Records the successful tool calls of a chain, by name and parameters, since the workspace last changed. */
export function createCallMemory() {
  const calls = new Map<string, string>()
  return {
    /** Returns the id of the earlier successful call with the same name and parameters. */
    earlier: (name: string, args: Record<string, unknown>): string | undefined => calls.get(keyOf(name, args)),
    remember: (id: string, name: string, args: Record<string, unknown>): void => {
      calls.set(keyOf(name, args), id)
    },
    /** Allows the model to repeat that call, because its result was cut out of the messages. */
    forget: (id: string): void => {
      for (const [key, call] of calls) if (call === id) calls.delete(key)
    },
    clear: (): void => calls.clear(),
  }
}
export type CallMemory = ReturnType<typeof createCallMemory>

/** Returns the key of a call, without the parameter `explanation`, which does not affect the result. */
export const keyOf = (name: string, { explanation: _, ...parameters }: Record<string, unknown>): string =>
  `${name} ${JSON.stringify(parameters, sortKeys)}`

const sortKeys = (_: string, value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
