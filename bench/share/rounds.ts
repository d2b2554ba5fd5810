import { readFile } from 'node:fs/promises'
import { createApi } from '../../dev/demo/api.ts'
import type { AllResult, DemoResult } from '../../dev/demo/result.ts'
import { withTemporaryFolder } from '../../dev/files.ts'
import type { PlayedCall } from '../../dev/scripted-model/start.ts'
import { PROJECT_ROOT } from '../../dev/stack/data-folder.ts'
import type { Interval } from '../clock/critical-path.ts'
import { runDemo } from '../lib/demo.ts'
import { startBenchStack } from '../lib/stack.ts'
import { divide, type Parts, type Stretch, uncovered } from './breakdown.ts'
import { OBSERVED_FOLDER, observedFile, type Waited } from './observe.ts'
import { readJobs, windowOf } from './round.ts'

/** A mode that was played, with what its rounds spent outside of engine jobs and model calls. Times in milliseconds. */
export interface ObservedMode extends DemoResult {
  /** Wall time of its rounds, from the request to the last status. */
  wall: number
  /** The stretches of that time in which neither an engine job nor a model call was open. */
  stretches: Stretch[]
  parts: Parts
  /** What the worker asked for in the rounds. */
  counts: Record<Waited['kind'], number>
}

/** Plays modes of the demo on a new stack whose worker is observed. */
export const observeModes = (mode: string): Promise<ObservedMode[]> =>
  withTemporaryFolder(async (folder) => {
    const played: PlayedCall[] = []
    const stack = await startBenchStack(folder, {
      env: { NODE_OPTIONS: `--import ${PROJECT_ROOT}bench/share/observe.ts`, [OBSERVED_FOLDER]: folder },
      scripted_model: { onCall: (call) => played.push(call) },
    })
    try {
      const result = await runDemo<DemoResult | AllResult>(folder, '--mode', mode)
      const results = 'results' in result ? result.results : [result]
      const observed: Waited[] = (await readFile(observedFile(folder), 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
      const steps = [...(await readJobs(folder, 0)), ...played.map(stepOf)]
      const { iacUrl, modelUrl, objectStoreUrl } = stack.addresses
      const origins = { engine: originOf(iacUrl), model: originOf(modelUrl), store: originOf(objectStoreUrl) }
      const api = createApi(stack.url, AbortSignal.timeout(60_000))
      const modes: ObservedMode[] = []
      for (const one of results) {
        const windows = (await api.session(one.session_id)).rounds.map(windowOf)
        const stretches = windows.flatMap((window) => uncovered(steps, window))
        const isInside = ({ from }: Waited) => windows.some((window) => from >= window.from && from <= window.to)
        const inside = observed.filter(isInside)
        const count = (kind: Waited['kind']) => inside.filter((waited) => waited.kind === kind).length
        modes.push({
          ...one,
          wall: windows.reduce((sum, { from, to }) => sum + to - from, 0),
          stretches,
          parts: divide(stretches, observed, origins),
          counts: { process: count('process'), request: count('request'), statement: count('statement') },
        })
      }
      return modes
    } finally {
      await stack.stop()
    }
  })

const originOf = (url: string | null | undefined): string => (url ? new URL(url).origin : '')

/** A call of the model is named after the last of its tools, which ends its chain. */
const stepOf = ({ question, began_ms, ended_ms }: PlayedCall): Interval => ({
  ...{ kind: 'model', name: question.tools.at(-1)?.name ?? 'text' },
  ...{ from: began_ms, to: ended_ms },
})
