import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startStack } from '../dev/stack/start-stack.ts'
import { residentMegabytes } from './lib/process.ts'
import type { Section } from './lib/report.ts'

const IDLE_MS = 8_000

/**
 * Measures the start of the embedded stack until it is ready, on a new folder and on a used one, and the memory of its
 * idle processes.
 */
export async function benchStack(): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-bench-'))
  const env = { ...process.env, PLATFORM_PORT: undefined }
  try {
    const first = performance.now()
    await (await startStack({ folder, env, embedded: true })).stop()
    const firstS = (performance.now() - first) / 1000
    const again = performance.now()
    const stack = await startStack({ folder, env, embedded: true })
    const againS = (performance.now() - again) / 1000
    await sleep(IDLE_MS)
    const memory = (name: string) => residentMegabytes(stack.children.find((child) => child.name === name)?.pid ?? 0)
    const [core, worker, iac] = [memory('core'), memory('worker'), memory('iac')]
    await stack.stop()
    return {
      title: 'Embedded stack',
      figures: [
        { name: 'first start and stop', value: firstS, unit: 's' },
        { name: 'start to readiness, second time', value: againS, unit: 's', aim: 8 },
        { name: 'core, idle', value: core, unit: 'MB', aim: 150 },
        { name: 'worker, idle', value: worker, unit: 'MB', aim: 150 },
        { name: 'iac sidecar, idle', value: iac, unit: 'MB' },
      ],
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
