import { describe, expect, it } from 'vitest'
import { createDrafts } from '../../../console/client/drafts.ts'
import { loadSettings } from '../../../console/client/settings.ts'
import { createStorage, inBrowser } from '../browser.ts'

inBrowser()

describe('drafts', () => {
  it('are kept until they are removed', () => {
    const storage = createStorage()
    createDrafts(storage).write('start', { text: 'a "b" 😀' })
    expect(createDrafts(storage).read('start')).toEqual({ text: 'a "b" 😀' })
    createDrafts(storage).remove('start')
    expect(createDrafts(storage).read('start')).toBeNull()
  })

  it('of a storage that is full, or holds something else, are no fault', () => {
    const full = createDrafts(createStorage({ full: true }))
    full.write('start', 'x')
    full.remove('start')
    expect(full.read('start')).toBeNull()
    const storage = createStorage()
    storage.setItem('platform.draft.start', '{')
    expect(createDrafts(storage).read('start')).toBeNull()
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
