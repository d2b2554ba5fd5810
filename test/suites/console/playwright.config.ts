import { defineConfig } from '@playwright/test'

const { CHROMIUM, CONSOLE_URL, CI = '' } = process.env

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  outputDir: '../../../.platform/console-results',
  snapshotPathTemplate: '{testDir}/snapshots/{arg}{ext}',
  reporter: [['list']],
  workers: 2,
  fullyParallel: false,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  retries: CI === '' || CI === 'false' ? 0 : 1,
  use: {
    baseURL: CONSOLE_URL,
    viewport: { width: 1440, height: 900 },
    video: 'off',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: CHROMIUM,
      // Chromium's own sandbox refuses to run as root; every other user has it.
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    },
  },
})
