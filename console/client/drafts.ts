/**
 * What somebody types is kept for this tab, so that a sign-in that ended, a reload or a new deployment loses nothing.
 */
export interface Drafts {
  read<T>(name: string): T | null
  write(name: string, value: unknown): void
  remove(name: string): void
}

export function createDrafts(storage: Storage = sessionStorage): Drafts {
  const key = (name: string) => `platform.draft.${name}`
  return {
    read: <T>(name: string) => {
      try {
        return JSON.parse(storage.getItem(key(name)) ?? 'null') as T | null
      } catch {
        return null
      }
    },
    write: (name, value) => {
      try {
        storage.setItem(key(name), JSON.stringify(value))
      } catch {
        // A full or forbidden storage: what was typed still stands in the form.
      }
    },
    remove: (name) => {
      try {
        storage.removeItem(key(name))
      } catch {
        // As above.
      }
    },
  }
}
