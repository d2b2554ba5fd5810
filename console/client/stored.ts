import { parseJson } from './json.ts'

/** Returns a JSON value from the storage of the browser; null when it is absent or unreadable. */
export const readStored = (storage: Storage, key: string): unknown => parseJson(storage.getItem(key) ?? '') ?? null

/** Stores a JSON value; null removes it. With a full or forbidden storage, the value is lost at the next visit. */
export function writeStored(storage: Storage, key: string, value: unknown): void {
  try {
    if (value === null) storage.removeItem(key)
    else storage.setItem(key, JSON.stringify(value))
  } catch {
    // The value is still on the screen.
  }
}
