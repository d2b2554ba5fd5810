import { type Browser, chromium, type Page } from '@playwright/test'
import { findChromium } from '../../test/suites/console/chromium.ts'

/** A mid-range phone in a mobile network: a quarter of this machine's speed, 1.6 Mbit/s, 150 ms. */
const SLOW_CPU = 4
const SLOW_NETWORK = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
}

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findChromium(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
}

/** Opens a page with an empty cache that records its largest paint, layout shifts and slowest interaction. */
export async function openPage(browser: Browser, { slow }: { slow: boolean }): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  await page.addInitScript(observe)
  if (!slow) return page
  const tools = await page.context().newCDPSession(page)
  await tools.send('Network.enable')
  await tools.send('Network.emulateNetworkConditions', SLOW_NETWORK)
  await tools.send('Emulation.setCPUThrottlingRate', { rate: SLOW_CPU })
  return page
}

interface PageTimings {
  largest_paint_ms: number
  layout_shift: number
  interaction_ms: number
}

/** Runs in the page. */
function observe(): void {
  const seen = { largest_paint_ms: 0, layout_shift: 0, interaction_ms: 0 }
  Object.assign(globalThis, { seen })
  const watch = (type: string, read: (entry: PerformanceEntry) => void, options: object = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(read)).observe({ type, buffered: true, ...options })
  watch('largest-contentful-paint', ({ startTime }) => {
    seen.largest_paint_ms = startTime
  })
  watch('layout-shift', (entry) => {
    const { value, hadRecentInput } = entry as PerformanceEntry & { value: number; hadRecentInput: boolean }
    if (!hadRecentInput) seen.layout_shift += value
  })
  watch(
    'event',
    (entry) => {
      if ((entry as PerformanceEntry & { interactionId: number }).interactionId > 0)
        seen.interaction_ms = Math.max(seen.interaction_ms, entry.duration)
    },
    { durationThreshold: 16 },
  )
}

export const readTimings = (page: Page): Promise<PageTimings> =>
  page.evaluate(() => (globalThis as never as { seen: PageTimings }).seen)

/**
 * Scrolls in the middle of the page for this time.
 * @returns frames per second, and the longest time between two frames
 */
export async function scroll(page: Page, seconds: number): Promise<{ frames: number; longest_ms: number }> {
  await page.evaluate(() => {
    const times: number[] = []
    Object.assign(globalThis, { frameTimes: times })
    const next = (now: number) => {
      times.push(now)
      requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })
  await page.mouse.move(720, 600)
  const end = performance.now() + seconds * 1_000
  while (performance.now() < end) {
    await page.mouse.wheel(0, 400)
    await page.waitForTimeout(16)
  }
  const times = await page.evaluate(() => (globalThis as never as { frameTimes: number[] }).frameTimes)
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time))
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0)
  return { frames: span === 0 ? 0 : (gaps.length * 1_000) / span, longest_ms: Math.max(0, ...gaps) }
}
