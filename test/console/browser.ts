import { afterEach, beforeEach, vi } from 'vitest'

/** Creates a browser storage. `full` makes every write fail. */
export function createStorage(options: { full?: boolean } = {}): Storage {
  const values = new Map<string, string>()
  const methods = {
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => {
      if (options.full) throw new Error('QuotaExceededError')
      values.set(name, value)
    },
    removeItem: (name: string) => void values.delete(name),
  }
  return new Proxy(methods as Storage, { ownKeys: () => [...values.keys()], getOwnPropertyDescriptor: present })
}
const present = () => ({ enumerable: true, configurable: true })

/** Provides the browser parts that the logic of the console uses to every test of a file. */
export function inBrowser(): { fire(event: 'online' | 'offline'): void } {
  const listeners = new Map<string, () => void>()
  beforeEach(() => {
    listeners.clear()
    vi.stubGlobal('addEventListener', (name: string, listener: () => void) => listeners.set(name, listener))
    vi.stubGlobal('location', new URL('https://platform.example.com/console/sessions?page=2#top'))
    vi.stubGlobal('sessionStorage', createStorage())
    vi.stubGlobal('document', { documentElement: { dataset: {} } })
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })
  return { fire: (event) => listeners.get(event)?.() }
}
