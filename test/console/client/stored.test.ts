import { describe, expect, it } from 'vitest'
import { loadSettings } from '../../../console/client/settings.ts'
import { readStored, writeStored } from '../../../console/client/stored.ts'
import { createStorage, inBrowser } from '../browser.ts'

inBrowser()

describe('a stored value', () => {
  it('is kept until it is removed', () => {
    const storage = createStorage()
    writeStored(storage, 'start', { text: 'a "b" 😀' })
    expect(readStored(storage, 'start')).toEqual({ text: 'a "b" 😀' })
    writeStored(storage, 'start', null)
    expect(readStored(storage, 'start')).toBeNull()
  })

  it('of a storage that is full, or holds something else, is no fault', () => {
    const full = createStorage({ full: true })
    writeStored(full, 'start', 'x')
    writeStored(full, 'start', null)
    expect(readStored(full, 'start')).toBeNull()
    const storage = createStorage()
    storage.setItem('start', '{')
    expect(readStored(storage, 'start')).toBeNull()
  })
})

describe('settings', () => {
  const defaults = { theme: 'system', density: 'comfortable', notify: false }

  it('are kept, and change the page at once', () => {
    const storage = createStorage()
    const settings = loadSettings(storage)
    expect(settings.get()).toEqual(defaults)
    settings.set({ ...settings.get(), theme: 'dark' })
    expect(document.documentElement.dataset).toEqual({ theme: 'dark', density: 'comfortable' })
    expect(loadSettings(storage).get()).toEqual({ ...defaults, theme: 'dark' })
  })

  it.each([
    '{',
    'null',
    '7',
    '"x"',
    '{"theme":"purple","density":3,"notify":"yes","other":1}',
  ])('that were kept as %s are the defaults', (kept) => {
    const storage = createStorage()
    storage.setItem('platform.settings', kept)
    expect(loadSettings(storage).get()).toEqual(defaults)
  })

  it('of a full storage hold for this visit', () => {
    const settings = loadSettings(createStorage({ full: true }))
    settings.set({ ...settings.get(), density: 'compact' })
    expect(settings.get().density).toBe('compact')
  })
})
