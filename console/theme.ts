import { loadAhead } from './ahead.ts'
import { applyAppearance, loadSettings } from './client/settings.ts'

// Runs before the page is drawn, so that its colours do not change visibly.
applyAppearance(loadSettings().get())
loadAhead(JSON.parse(document.documentElement.dataset.screens ?? '{}') as Record<string, string[]>)
