import { createStore, type Store } from './observable.ts'
import { readStored, writeStored } from './stored.ts'

export interface Settings {
  theme: 'system' | 'light' | 'dark'
  density: 'comfortable' | 'compact'
  /** True to show a browser notification when a round ends while the page is hidden. */
  notify: boolean
}

const KEY = 'platform.settings'

/** Returns the settings of this browser. A change is stored and applied; `theme.ts` applies them before the first paint. */
export function loadSettings(storage: Storage = localStorage): Store<Settings> {
  // Another version may have written it, so only known values count.
  const { theme, density, notify } = (readStored(storage, KEY) ?? {}) as Partial<Settings>
  const store = createStore<Settings>({
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    density: density === 'compact' ? density : 'comfortable',
    notify: notify === true,
  })
  store.subscribe(() => {
    applyAppearance(store.get())
    writeStored(storage, KEY, store.get())
  })
  return store
}

export function applyAppearance({ theme, density }: Settings): void {
  const { dataset } = document.documentElement
  dataset.theme = theme
  dataset.density = density
}
