/** Returns a JSON value from the storage of the browser; null when there is none, or when it cannot be read. */
export function readStored(storage: Storage, key: string): unknown {
  try {
    return JSON.parse(storage.getItem(key) ?? 'null')
  } catch {
    return null
  }
}

/** Stores a JSON value, null to remove it. A full or forbidden storage loses it at the next visit, and nothing now. */
export function writeStored(storage: Storage, key: string, value: unknown): void {
  try {
    if (value === null) storage.removeItem(key)
    else storage.setItem(key, JSON.stringify(value))
  } catch {
    // What was typed or selected is still on the screen.
  }
}
