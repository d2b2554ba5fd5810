import { useState } from 'preact/hooks'
import { readStored, writeStored } from './stored.ts'

/** The typed text, stored for this tab so that an expired sign-in, a reload or a new deployment loses nothing. */
interface Drafts {
  read<T>(name: string): T | null
  write(name: string, value: unknown): void
  remove(name: string): void
}

export function createDrafts(storage: Storage = sessionStorage): Drafts {
  const key = (name: string) => `platform.draft.${name}`
  return {
    read: <T>(name: string) => readStored(storage, key(name)) as T | null,
    write: (name, value) => writeStored(storage, key(name), value),
    remove: (name) => writeStored(storage, key(name), null),
  }
}

/** Returns the state of a form and stores its changes; `keep` returns the part that may be stored (default: all). */
export function useDraft<T extends object>(name: string, initial: T, keep: (value: T) => T = (value) => value) {
  const [drafts] = useState(createDrafts)
  const [value, setValue] = useState<T>(() => ({ ...initial, ...drafts.read<T>(name) }))
  const set = (next: T) => {
    setValue(next)
    drafts.write(name, keep(next))
  }
  const change = (part: Partial<T>) => set({ ...value, ...part })
  /** Deletes the draft after it was sent. */
  const clear = () => {
    setValue(initial)
    drafts.remove(name)
  }
  return { value, set, change, clear }
}
