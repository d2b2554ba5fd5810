import { createStore, type Store } from './api/store.ts'

export interface Settings {
  theme: 'system' | 'light' | 'dark'
  density: 'comfortable' | 'compact'
  /** Whether the browser tells when a round ends while the page is not looked at. */
  notify: boolean
}

const KEY = 'platform.settings'
const DEFAULTS: Settings = { theme: 'system', density: 'comfortable', notify: false }

/** The settings of this browser. A change is kept, and `theme.js` applies the appearance before the page is drawn. */
export function loadSettings(storage: Storage = localStorage): Store<Settings> {
  const store = createStore<Settings>({ ...DEFAULTS, ...readKept(storage) })
  store.subscribe(() => {
    const settings = store.get()
    applyAppearance(settings)
    try {
      storage.setItem(KEY, JSON.stringify(settings))
    } catch {
      // A full or forbidden storage costs the choice at the next visit, and nothing now.
    }
  })
  return store
}

/** What was kept, by this version or by another one, as far as it is known here. */
function readKept(storage: Storage): Partial<Settings> {
  try {
    const { theme, density, notify } = (JSON.parse(storage.getItem(KEY) ?? '{}') ?? {}) as Partial<Settings>
    return {
      ...(theme && ['light', 'dark'].includes(theme) && { theme }),
      ...(density === 'compact' && { density }),
      ...(notify === true && { notify }),
    }
  } catch {
    return {}
  }
}

export function applyAppearance({ theme, density }: Settings): void {
  const { dataset } = document.documentElement
  dataset.theme = theme
  dataset.density = density
}
