import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'preact/hooks'

/** A search parameter as the router reads it from the address: `7` is a number and `true` a boolean. */
type SearchValue = string | number | boolean
export type SearchOf<Name extends string> = { [name in Name]?: SearchValue | undefined }

/** Returns a function that keeps these search parameters of an address. A value of another kind becomes its JSON. */
export const pickSearch =
  <Name extends string>(names: readonly Name[]) =>
  (search: Record<string, unknown>): SearchOf<Name> => {
    const picked: SearchOf<Name> = {}
    for (const name of names) {
      const value = search[name]
      if (value !== undefined && value !== null) picked[name] = isSearchValue(value) ? value : JSON.stringify(value)
    }
    return picked
  }

const isSearchValue = (value: unknown): value is SearchValue =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** Returns the search parameters of the present screen, under the names that any screen has. */
export const useAnySearch = () => useSearch({ strict: false })
export type AnySearch = ReturnType<typeof useAnySearch>

export type Address = ReturnType<typeof useAddress>

/** Returns the search parameters of the present address as text. A blank value removes a parameter. */
export function useAddress() {
  const search = useAnySearch()
  const change = useSearchChange()
  return {
    /** Returns the value; blank when the address has none. */
    read: (name: keyof AnySearch): string => String(search[name] ?? ''),
    /** Changes parameters. `replace` adds no entry to the history, for values that change with every key. */
    change: (changes: { [name in keyof AnySearch]?: string }, { replace = false } = {}) =>
      change(Object.fromEntries(Object.entries(changes).map(([name, text]) => [name, toValue(text)])), replace),
  }
}

/** Returns a function that changes search parameters and keeps the scroll position. */
export function useSearchChange() {
  const navigate = useNavigate()
  return useCallback(
    (changes: AnySearch, replace = true): void =>
      void navigate({
        to: '.',
        search: (before: AnySearch) => ({ ...before, ...changes }),
        replace,
        resetScroll: false,
      }),
    [navigate],
  )
}

/** Returns the value of a text. Keeps the address readable: the router quotes a text that parses as JSON. */
export const toValue = (text: string | undefined): SearchValue | undefined => {
  if (!text) return undefined
  if (text === 'true' || text === 'false') return text === 'true'
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : text
}
