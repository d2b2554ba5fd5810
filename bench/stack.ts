import { setTimeout as sleep } from 'node:timers/promises'
import { withTemporaryFolder } from '../dev/files.ts'
import { type Section, timed } from './lib/report.ts'
import { memoryOf, startBenchStack } from './lib/stack.ts'

const IDLE_MS = 8_000
/** Resident memory of one process. */
const IDLE_AIM_MB = 100

/** Measures the start of the embedded stack on a new folder and on a used one, and its idle memory. */
export const benchStack = (): Promise<Section> =>
  withTemporaryFolder(async (folder) => {
    const firstMs = await timed(async () => (await startBenchStack(folder)).stop())
    const again = performance.now()
    const stack = await startBenchStack(folder)
    const againS = (performance.now() - again) / 1000
    await sleep(IDLE_MS)
    const [core, worker, iac] = ['core', 'worker', 'iac'].map((name) => memoryOf(stack, name))
    await stack.stop()
    return {
      title: 'Embedded stack',
      figures: [
        { name: 'first start and stop', value: firstMs / 1000, unit: 's' },
        { name: 'start to readiness, second time', value: againS, unit: 's', aim: 8 },
        { name: 'core, idle', value: core ?? Number.NaN, unit: 'MB', aim: IDLE_AIM_MB },
        { name: 'worker, idle', value: worker ?? Number.NaN, unit: 'MB', aim: IDLE_AIM_MB },
        { name: 'iac sidecar, idle', value: iac ?? Number.NaN, unit: 'MB', aim: IDLE_AIM_MB },
      ],
    }
  })
