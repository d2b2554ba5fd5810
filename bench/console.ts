import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type Page, request } from '@playwright/test'
import { buildConsole } from '../console/build/build.ts'
import { startStack } from '../dev/stack/start-stack.ts'
import { createMasker } from '../src/base/masking.ts'
import { writePlanDocument } from '../src/plan/document/create.ts'
import { parsePlan } from '../src/plan/plan.ts'
import { largePlanText } from '../test/plan/document/large-plan.ts'
import { findOrRunExample } from '../test/suites/console/world.ts'
import { openBrowser, openPage, readSeen, scroll } from './console/browser.ts'
import { sessionPage } from './console/many-sessions.ts'
import type { Figure, Section } from './lib/report.ts'

const PAINT_AIM_MS = 2_000
const SHIFT_AIM = 0.05
const INTERACTION_AIM_MS = 150
const FRAMES_AIM = 55

/**
 * Opens screens of the console in a slow browser on a slow network, beside a bare page under the same conditions, and
 * scrolls a list of sessions and a plan at full speed.
 */
export async function benchConsole(options: { size: number; seconds: number }): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-bench-'))
  const stack = await startStack({
    folder,
    env: { ...process.env, PLATFORM_PORT: undefined },
    embedded: true,
    before_core: buildConsole(),
  })
  const browser = await openBrowser()
  try {
    const api = await request.newContext({ baseURL: stack.url })
    const id = await findOrRunExample(api, 'generate')
    const bare = await measureBare(browser)
    const figures: Figure[] = [{ name: 'a bare page: largest paint', value: bare, unit: 'ms' }]
    for (const [name, path, press] of SCREENS(id))
      figures.push(...(await measureScreen(browser, stack.url, { name, path, press, bare })))
    figures.push(...(await measureScrolling(browser, stack.url, { id, ...options })))
    return {
      title: 'Console (a quarter of the speed, 1.6 Mbit/s, 150 ms; scrolling at full speed)',
      figures,
    }
  } finally {
    await browser.close()
    await stack.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

type Press = (page: Page) => Promise<unknown>

/** Each with something that is done by hand, so that an interaction can be measured. */
const SCREENS = (id: string): [name: string, path: string, press: Press][] => [
  ['start', '', (page) => page.keyboard.type('Add a bucket')],
  ['sessions', 'sessions', (page) => page.getByRole('searchbox').first().pressSequentially('queue')],
  ['session', `sessions/${id}`, (page) => page.locator('summary').first().click()],
  ['review', `sessions/${id}/review`, (page) => page.locator('button[aria-expanded]:visible').last().click()],
]

interface Asked {
  name: string
  path: string
  press: Press
  /** Largest paint of the bare page. */
  bare: number
}

async function measureScreen(browser: Browser, url: string, { name, path, press, bare }: Asked): Promise<Figure[]> {
  const page = await openPage(browser, { slow: true })
  await page.goto(`${url}/console/${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForTimeout(3_000)
  const { largest_paint_ms, layout_shift } = await readSeen(page)
  await press(page)
  await page.waitForTimeout(1_000)
  const { interaction_ms } = await readSeen(page)
  await page.context().close()
  return [
    { name: `${name}: largest paint`, value: largest_paint_ms, unit: 'ms', aim: PAINT_AIM_MS },
    { name: `${name}: largest paint to the bare page`, value: largest_paint_ms / bare, unit: 'times' },
    { name: `${name}: layout shift`, value: layout_shift, unit: '', aim: SHIFT_AIM },
    { name: `${name}: slowest interaction`, value: interaction_ms, unit: 'ms', aim: INTERACTION_AIM_MS },
  ]
}

/** The same conditions for a page that is nothing but a heading. */
async function measureBare(browser: Browser): Promise<number> {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>bare</title><h1>Bare</h1>'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const page = await openPage(browser, { slow: true })
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await page.waitForTimeout(500)
  const { largest_paint_ms } = await readSeen(page)
  await page.context().close()
  server.close()
  return largest_paint_ms
}

interface Long {
  id: string
  /** Sessions, and resources of the plan. */
  size: number
  seconds: number
}

async function measureScrolling(browser: Browser, url: string, { id, size, seconds }: Long): Promise<Figure[]> {
  const facts = { plan: parsePlan(largePlanText(size)), targets: [], masker: createMasker([]) }
  const document = await writePlanDocument(facts)
  const page = await openPage(browser, { slow: false })
  await page.route('**/sessions/list?**', (route) => {
    const query = new URL(route.request().url()).searchParams
    return route.fulfill({
      json: sessionPage(Number(query.get('page') ?? 1), Number(query.get('page_size') ?? 20), size),
    })
  })
  await page.route(/\/plans\/[^?]*\.json/, (route) =>
    route.fulfill({
      body: document,
      headers: { 'access-control-allow-origin': '*', 'content-type': 'application/json' },
    }),
  )
  const figures: Figure[] = []
  for (const [name, path] of [
    [`${size} sessions`, 'sessions'],
    [`a plan of ${size} resources`, `sessions/${id}/review?part=plan`],
  ] as const) {
    await page.goto(`${url}/console/${path}`)
    await page.getByRole('listitem').nth(10).waitFor()
    const { frames, longest_ms } = await scroll(page, seconds)
    figures.push(
      { name: `${name}: frames while scrolling`, value: frames, unit: '/s', aim: FRAMES_AIM, at_least: true },
      { name: `${name}: longest frame`, value: longest_ms, unit: 'ms' },
    )
  }
  return figures
}
