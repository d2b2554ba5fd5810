import { useState } from 'preact/hooks'
import { readStored, writeStored } from './stored.ts'

/** The prefix of texts that are stored for this tab, so that an expired sign-in, a reload or a new version loses none. */
const PREFIX = 'platform.draft.'

/** Returns the state of a form and stores its changes; `keep` returns the part that may be stored (default: all). */
export function useDraft<T extends object>(name: string, initial: T, keep: (value: T) => T = (value) => value) {
  const key = PREFIX + name
  const [value, setValue] = useState<T>(() => ({ ...initial, ...(readStored(sessionStorage, key) as T | null) }))
  const set = (next: T) => {
    setValue(next)
    writeStored(sessionStorage, key, keep(next))
  }
  const change = (part: Partial<T>) => set({ ...value, ...part })
  /** Deletes the draft after it was sent. */
  const clear = () => {
    setValue(initial)
    writeStored(sessionStorage, key, null)
  }
  return { value, set, change, clear }
}
