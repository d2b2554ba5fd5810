import { execFileSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Platform, startPlatform } from './platform.ts'
import { type Phoenix, startPhoenix } from './server.ts'

const LIMIT_MS = 300_000
const PROJECT = 'dev-engine-day2'
/** Only root may mount a small disk. */
const isRoot = process.getuid?.() === 0
let folder: string
let disk: string
let phoenix: Phoenix
let platform: Platform

beforeAll(async () => {
  if (!isRoot) return
  folder = await mkdtemp(join(tmpdir(), 'world-phoenix-disk-'))
  disk = join(folder, 'disk')
  await mkdir(disk)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128m', 'tmpfs', disk])
  phoenix = await startPhoenix(disk)
  platform = await startPlatform(join(folder, 'platform'), `${phoenix.url}/`)
}, LIMIT_MS)
afterAll(async () => {
  if (!isRoot) return
  await platform?.stack.stop()
  await phoenix?.close()
  execFileSync('umount', ['-l', disk])
  await rm(folder, { recursive: true, force: true })
})

/** Writes until nothing fits any more. */
function fill(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (const size of [1 << 20, 1 << 12, 1])
      try {
        for (;;) writeSync(file, Buffer.alloc(size))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
  } finally {
    closeSync(file)
  }
}

describe.skipIf(!isRoot)(
  'Phoenix on a disk that is full',
  () => {
    it('holds no round up, and keeps the spans of the next one when there is room again', async () => {
      const ballast = join(disk, 'ballast')
      fill(ballast)
      const lost = await platform.begin('generate')
      expect(await lost.end).toBe('COMPLETED')
      await rm(ballast)
      const kept = await platform.begin('generate')
      expect(await kept.end).toBe('COMPLETED')
      const check = async () => expect((await phoenix.spansOf(PROJECT, kept.id)).length).toBeGreaterThan(3)
      await vi.waitFor(check, { timeout: 60_000, interval: 500 })
    })
  },
  LIMIT_MS,
)
