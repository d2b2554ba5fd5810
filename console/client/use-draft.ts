import { useState } from 'preact/hooks'
import { createDrafts } from './drafts.ts'

const drafts = createDrafts()

/**
 * What somebody types into a form. It is kept at every change, so that a reload or a sign-in that ended loses nothing.
 * @param name names the form
 * @param keep what of it may be kept; everything by default
 */
export function useDraft<T extends object>(name: string, initial: T, keep: (value: T) => T = (value) => value) {
  const [value, setValue] = useState<T>(() => ({ ...initial, ...drafts.read<T>(name) }))
  const set = (next: T) => {
    setValue(next)
    drafts.write(name, keep(next))
  }
  const change = (part: Partial<T>) => set({ ...value, ...part })
  /** What was typed has been sent. */
  const clear = () => {
    setValue(initial)
    drafts.remove(name)
  }
  return { value, set, change, clear }
}
