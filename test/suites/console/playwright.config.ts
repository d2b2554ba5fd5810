import { defineConfig } from '@playwright/test'

const { CHROMIUM, CONSOLE_URL, CI = '' } = process.env

const SAMPLES = ['drift.spec.ts', 'import.spec.ts', 'modes.spec.ts', 'pull-request.spec.ts', 'seal.spec.ts']

export default defineConfig({
  testDir: '.',
  outputDir: '../../../.platform/console-results',
  snapshotPathTemplate: '{testDir}/snapshots/{arg}{ext}',
  reporter: [['list']],
  workers: 2,
  projects: [
    // These reset the history of samples, so they run one after the other.
    { name: 'samples', testMatch: SAMPLES, workers: 1 },
    { name: 'screens', testMatch: '*.spec.ts', testIgnore: SAMPLES },
  ],
  fullyParallel: false,
  timeout: 240_000,
  expect: { timeout: 10_000 },
  retries: CI === '' || CI === 'false' ? 0 : 1,
  use: {
    baseURL: CONSOLE_URL,
    viewport: { width: 1440, height: 900 },
    video: 'off',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: CHROMIUM,
      // Chromium's sandbox does not run as root.
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    },
  },
})
