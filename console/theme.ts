import { loadAhead } from './ahead.ts'
import { applyAppearance, loadSettings } from './client/settings.ts'

// Runs before the page is drawn, so that it never changes its colours before the reader's eyes.
applyAppearance(loadSettings().get())
loadAhead(JSON.parse(document.documentElement.dataset.screens ?? '{}') as Record<string, string[]>)
