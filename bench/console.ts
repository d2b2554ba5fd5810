import { createServer } from 'node:http'
import { type Browser, chromium, type Page, request } from '@playwright/test'
import { buildConsole } from '../console/build/build.ts'
import type { SessionSummary } from '../console/client/api/client.ts'
import { withTemporaryFolder } from '../dev/files.ts'
import { listen } from '../dev/server.ts'
import { createMasker } from '../src/base/masking.ts'
import { writePlanDocument } from '../src/plan/document/create-document.ts'
import { parsePlan } from '../src/plan/plan.ts'
import { largePlanText } from '../test/plan/document/large-plan.ts'
import { findChromium } from '../test/suites/console/chromium.ts'
import { findOrRunExample } from '../test/suites/console/world.ts'
import type { Figure, Section } from './lib/report.ts'
import { startBenchStack } from './lib/stack.ts'

/** Opens screens of the console in a throttled browser, with a bare page as baseline, and scrolls two long pages. */
export const benchConsole = (options: { size: number; seconds: number }): Promise<Section> =>
  withTemporaryFolder(async (folder) => {
    const stack = await startBenchStack(folder, { before_core: buildConsole() })
    const browser = await openBrowser()
    try {
      const api = await request.newContext({ baseURL: stack.url })
      const id = await findOrRunExample(api, 'generate')
      const bare = await measureBare(browser)
      const figures: Figure[] = [{ name: 'a bare page: largest paint', value: bare, unit: 'ms' }]
      for (const screen of SCREENS(id)) figures.push(...(await measureScreen(browser, stack.url, screen, bare)))
      figures.push(...(await measureScrolling(browser, stack.url, { id, ...options })))
      return { title: 'Console (a quarter of the speed, 1.6 Mbit/s, 150 ms; scrolling at full speed)', figures }
    } finally {
      await browser.close()
      await stack.stop()
    }
  })

/** A screen, with an action of a user whose latency is measured. */
type Screen = [name: string, path: string, press: (page: Page) => Promise<unknown>]

const SCREENS = (id: string): Screen[] => [
  ['start', '', (page) => page.keyboard.type('Add a bucket')],
  ['sessions', 'sessions', (page) => page.getByRole('searchbox').first().pressSequentially('queue')],
  ['session', `sessions/${id}`, (page) => page.locator('summary').first().click()],
  ['review', `sessions/${id}/review`, (page) => page.locator('button[aria-expanded]:visible').last().click()],
]

/** @param bare the largest paint of the bare page */
async function measureScreen(browser: Browser, url: string, screen: Screen, bare: number): Promise<Figure[]> {
  const [name, path, press] = screen
  const page = await openPage(browser, { slow: true })
  await page.goto(`${url}/console/${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForTimeout(3_000)
  const { largest_paint_ms, layout_shift } = await readTimings(page)
  await press(page)
  await page.waitForTimeout(1_000)
  const { interaction_ms } = await readTimings(page)
  await page.context().close()
  return [
    { name: `${name}: largest paint`, value: largest_paint_ms, unit: 'ms', aim: 2_000 },
    { name: `${name}: largest paint to the bare page`, value: largest_paint_ms / bare, unit: 'times' },
    { name: `${name}: layout shift`, value: layout_shift, unit: '', aim: 0.05 },
    { name: `${name}: slowest interaction`, value: interaction_ms, unit: 'ms', aim: 150 },
  ]
}

/** Measures a page with only a heading under the same conditions. */
async function measureBare(browser: Browser): Promise<number> {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>bare</title><h1>Bare</h1>'),
  )
  const running = await listen(server)
  const page = await openPage(browser, { slow: true })
  await page.goto(running.url)
  await page.waitForTimeout(500)
  const { largest_paint_ms } = await readTimings(page)
  await page.context().close()
  await running.close()
  return largest_paint_ms
}

/** @param options.size number of sessions, and of resources in the plan */
async function measureScrolling(
  browser: Browser,
  url: string,
  { id, size, seconds }: { id: string; size: number; seconds: number },
): Promise<Figure[]> {
  const facts = { plan: parsePlan(largePlanText(size)), targets: [], masker: createMasker([]) }
  const document = await writePlanDocument(facts)
  const page = await openPage(browser, { slow: false })
  await page.route('**/sessions/list?**', (route) => {
    const query = new URL(route.request().url()).searchParams
    const [number, pageSize] = [Number(query.get('page') ?? 1), Number(query.get('page_size') ?? 20)]
    return route.fulfill({ json: sessionPage(number, pageSize, size) })
  })
  const headers = { 'access-control-allow-origin': '*', 'content-type': 'application/json' }
  await page.route(/\/plans\/[^?]*\.json/, (route) => route.fulfill({ body: document, headers }))
  const figures: Figure[] = []
  for (const [name, path] of [
    [`${size} sessions`, 'sessions'],
    [`a plan of ${size} resources`, `sessions/${id}/review?part=plan`],
  ] as const) {
    await page.goto(`${url}/console/${path}`)
    await page.getByRole('listitem').nth(10).waitFor()
    const { frames, longest_ms } = await scroll(page, seconds)
    figures.push(
      { name: `${name}: frames while scrolling`, value: frames, unit: '/s', aim: 55, at_least: true },
      { name: `${name}: longest frame`, value: longest_ms, unit: 'ms' },
    )
  }
  return figures
}

function sessionPage(page: number, pageSize: number, total: number) {
  const first = (page - 1) * pageSize
  const length = Math.max(0, Math.min(pageSize, total - first))
  const items = Array.from({ length }, (_, index) => session(first + index))
  return { items, total, page, page_size: pageSize, total_pages: Math.ceil(total / pageSize) }
}

function session(number: number): SessionSummary {
  const at = new Date(Date.UTC(2026, 0, 1) - number * 60_000).toISOString()
  return {
    uuid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    username: 'ada@example.org',
    operation: number % 3 === 0 ? 'drift' : 'generate',
    provider: 'aws',
    first_query: `Request ${number}: add a queue with a dead-letter queue and an alarm.`,
    workspace: { uri: 'https://git.example.org/acme/infrastructure.git', branch: 'Platform/x', root_path: null },
    current_status: number % 5 === 0 ? 'failed' : 'completed',
    in_flight: false,
    is_blocked: number % 7 === 0,
    lock: null,
    created_at: at,
    updated_at: at,
  }
}

/** A mid-range phone in a mobile network: a quarter of this machine's speed, 1.6 Mbit/s, 150 ms. */
const SLOW_CPU = 4
const SLOW_NETWORK = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 }

async function openBrowser(): Promise<Browser> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath: await findChromium(), args })
}

/** Opens a page with an empty cache that records its largest paint, layout shifts and slowest interaction. */
async function openPage(browser: Browser, { slow }: { slow: boolean }): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  await page.addInitScript(observe)
  if (!slow) return page
  const tools = await page.context().newCDPSession(page)
  await tools.send('Network.enable')
  await tools.send('Network.emulateNetworkConditions', SLOW_NETWORK)
  await tools.send('Emulation.setCPUThrottlingRate', { rate: SLOW_CPU })
  return page
}

type PageTimings = { largest_paint_ms: number; layout_shift: number; interaction_ms: number }

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

const readTimings = (page: Page): Promise<PageTimings> =>
  page.evaluate(() => (globalThis as never as { seen: PageTimings }).seen)

/**
 * Scrolls in the middle of the page for this time.
 * @returns frames per second, and the longest time between two frames
 */
async function scroll(page: Page, seconds: number): Promise<{ frames: number; longest_ms: number }> {
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
