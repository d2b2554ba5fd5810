import { useNavigate, useSearch } from '@tanstack/react-router'

/** What the address says behind its `?`, as text, and changes of it. A blank value takes its name out of it. */
export interface Address {
  /** Blank when the address does not name it. */
  read(name: string): string
  /** @param options.replace without an entry of its own in the history, for what is typed letter by letter */
  change(changes: Record<string, string>, options?: { replace?: boolean }): void
}

export function useAddress(): Address {
  const search = useSearch({ strict: false }) as Record<string, unknown>
  const navigate = useNavigate()
  return {
    read: (name) => toText(search[name]),
    change: (changes, { replace = false } = {}) =>
      void navigate({
        to: '.',
        search: ((before: Record<string, unknown>) => applyChanges(before, changes)) as never,
        replace,
        resetScroll: false,
      }),
  }
}

/** The router reads `true` and `7` of an address as what they are in JSON. */
export const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''

/** Written so that the address stays readable: the router puts a text that reads as JSON into quotes. */
const toValue = (text: string): unknown =>
  text === 'true' || text === 'false' ? text === 'true' : /^[1-9]\d{0,8}$/.test(text) ? Number(text) : text

export function applyChanges(
  before: Record<string, unknown>,
  changes: Record<string, string>,
): Record<string, unknown> {
  const after = { ...before }
  for (const [name, text] of Object.entries(changes)) {
    if (text === '') delete after[name]
    else after[name] = toValue(text)
  }
  return after
}
