import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import type { ExampleName } from '../../../dev/scripted-model/examples.ts'
import { expect, expectAccessible, expectToFit, test } from './fixtures.ts'
import { findOrRunExample } from './world.ts'

/** Screenshots change with every run, so those of the documentation are made on request only. */
const LOOKED_AT = join(import.meta.dirname, '../../../.platform/console-pictures')
const PICTURES = process.env.CONSOLE_PICTURES ? join(import.meta.dirname, '../../../docs/console') : LOOKED_AT

interface Screen {
  /** File name of the screenshot in `docs/console/`. */
  name: string
  /** Below `/console/`; `{session}` stands for the session of the example. */
  path: string
  example?: ExampleName
}

const SCREENS: readonly Screen[] = [
  { name: 'start', path: '' },
  { name: 'sessions', path: 'sessions' },
  { name: 'rounds', path: 'sessions/{session}', example: 'generate' },
  { name: 'failed-round', path: 'sessions/{session}', example: 'exhausted' },
  { name: 'review-plan', path: 'sessions/{session}/review?part=plan', example: 'blocked' },
  { name: 'review-code', path: 'sessions/{session}/review?part=code', example: 'generate' },
  { name: 'review-report', path: 'sessions/{session}/review?part=report', example: 'blocked' },
  { name: 'review-compliance', path: 'sessions/{session}/review?part=compliance', example: 'generate' },
  { name: 'graph', path: 'sessions/{session}/graph', example: 'generate' },
  { name: 'seal', path: 'sessions/{session}/seal', example: 'generate' },
  { name: 'pull-request', path: 'sessions/{session}/pull-request', example: 'generate' },
  { name: 'drift', path: 'sessions/{session}/drift', example: 'full-drift' },
  { name: 'import', path: 'sessions/{session}/import', example: 'import-preview' },
  { name: 'replay', path: 'sessions/{session}/replay/1', example: 'generate' },
  { name: 'locked', path: 'locked' },
  { name: 'admin', path: 'admin' },
  { name: 'users', path: 'admin/users' },
  { name: 'audit', path: 'admin/audit' },
  { name: 'help', path: 'help' },
  { name: 'settings', path: 'settings' },
]

for (const { name, path, example } of SCREENS)
  test(`${name}: accessible in both themes, fits a phone and 200 % zoom, has its picture`, async ({
    page,
    request,
  }) => {
    const session = example ? await findOrRunExample(request, example) : ''
    await page.goto(`/console/${path.replace('{session}', session)}`)
    await settle(page)
    await expectAccessible(page)
    await takePicture(page, PICTURES, name)
    // A page of 1440 pixels at 200 % has room for 720; phones have 390.
    for (const width of [720, 390]) {
      await page.setViewportSize({ width, height: 844 })
      await expectToFit(page)
    }
    await takePicture(page, LOOKED_AT, `${name}-phone`)
    await expectAccessible(page)
  })

async function takePicture(page: Page, folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
}

/** Waits until nothing is loading. */
async function settle(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => {})
  await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
}
