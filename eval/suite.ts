import { appendFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ApiError } from '../dev/demo/api.ts'
import { readText } from '../dev/files.ts'
import type { SampleMeasurement } from './sample.ts'
import { hashOf, type Scenario } from './scenario/scenario.ts'

export interface Caps {
  /** US dollars. Null means no cap. */
  max_cost: number | null
  /** Input and output tokens together. Null means no cap. */
  max_tokens: number | null
}

export interface SuiteOptions extends Caps {
  scenarios: readonly Scenario[]
  samples: number
  concurrency: number
  model: string
  store: ResultStore
  /** Runs one sample. Errors: those of the harness. */
  run(scenario: Scenario, sample: number): Promise<SampleMeasurement>
  /** Receives each sample that ends. `done` and `total` count samples, also those of earlier runs. */
  progress(result: SampleResult, done: number, total: number): void
  now(): Date
  signal: AbortSignal
}
type Job = { scenario: Scenario; hash: string; sample: number }

/**
 * Runs the unfinished samples: the first sample of every scenario before the second one of any. Errors: the first one
 * of the harness, thrown when the running samples have ended.
 * @returns the results, also of earlier runs; `stopped` is the reason why not all samples were run, or null
 */
export async function runSuite(options: SuiteOptions) {
  const { scenarios, samples, model, store } = options
  const hashes = new Map(scenarios.map((scenario) => [scenario.name, hashOf(scenario)]))
  const all: Job[] = Array.from({ length: samples }, (_, index) =>
    scenarios.map((scenario) => ({ scenario, hash: hashes.get(scenario.name) ?? '', sample: index + 1 })),
  ).flat()
  const nameOf = (job: Job) => keyOf(idOf(job, model))
  const wanted = new Set(all.map(nameOf))
  const finished = () => store.results.filter((result) => wanted.has(keyOf(result)))
  const finishedKeys = new Set(finished().map(keyOf))
  const waiting = all.filter((job) => !finishedKeys.has(nameOf(job)))
  const state: { stopped: string | null; error: unknown; running: number } = { stopped: null, error: null, running: 0 }
  const lane = async () => {
    while (state.stopped === null && state.error === null && !options.signal.aborted) {
      const job = waiting[0]
      if (!job) return
      state.stopped = findReachedCap(options, finished(), state.running)
      if (state.stopped !== null) return
      waiting.shift()
      state.running++
      try {
        const measured = await measure(options, job)
        const result = { ...measured, ...idOf(job, model), finished_at: options.now().toISOString() }
        await store.add(result)
        options.progress(result, finished().length, all.length)
      } catch (error) {
        state.error ??= error ?? new Error('unknown error')
      } finally {
        state.running--
      }
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, lane))
  options.signal.throwIfAborted()
  if (state.error !== null) throw state.error
  return { results: finished(), stopped: waiting.length > 0 ? state.stopped : null }
}

const idOf = ({ scenario, hash, sample }: Job, model: string) => ({ scenario: scenario.name, hash, model, sample })

/** Runs a sample. A refusal by the platform makes it a failed sample. */
async function measure({ run }: SuiteOptions, { scenario, sample }: Job): Promise<SampleMeasurement> {
  const began = performance.now()
  try {
    return await run(scenario, sample)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return {
      ...{ passed: false, failures: [error.message], status: 'refused', session_id: null },
      ...{ attempts: 0, input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: 0 },
      duration_s: Math.round(performance.now() - began) / 1000,
    }
  }
}

/**
 * Returns the reason why no further sample may begin, or null. A running sample counts as the mean of the finished
 * ones, so only a sample above the mean can exceed the cap.
 * @param spent all samples that count, also those of earlier runs
 */
export function findReachedCap(
  { max_cost, max_tokens }: Caps,
  spent: readonly Pick<SampleResult, 'cost_usd' | 'input_tokens' | 'output_tokens'>[],
  running: number,
): string | null {
  const share = spent.length === 0 ? 0 : running / spent.length
  if (max_cost !== null) {
    if (spent.some(({ cost_usd }) => cost_usd === null))
      return 'the price of a model is not known, so --max-cost cannot be kept: set llm.prices, or use --max-tokens'
    const cost = spent.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0)
    if (cost * (1 + share) >= max_cost)
      return `--max-cost ${max_cost} is reached: ${cost.toFixed(4)} USD spent, ${running} samples under way`
  }
  if (max_tokens !== null) {
    const tokens = spent.reduce((sum, { input_tokens, output_tokens }) => sum + input_tokens + output_tokens, 0)
    if (tokens * (1 + share) >= max_tokens)
      return `--max-tokens ${max_tokens} is reached: ${tokens} used, ${running} samples under way`
  }
  return null
}

export interface SampleResult extends SampleMeasurement {
  scenario: string
  /** Hash of the scenario. A scenario that was changed counts as another one. */
  hash: string
  model: string
  /** Number of the sample. The first is 1. */
  sample: number
  finished_at: string
}

export type ResultStore = Awaited<ReturnType<typeof openResults>>

const keyOf = ({ scenario, hash, model, sample }: ReturnType<typeof idOf>): string =>
  JSON.stringify([scenario, hash, model, sample])

/** Reads earlier results, and appends new ones. An unfinished last line is ignored, so that its sample runs again. */
export async function openResults(path: string) {
  await mkdir(dirname(path), { recursive: true })
  const text = (await readText(path)) ?? ''
  const byKey = new Map<string, SampleResult>()
  for (const line of text.split('\n')) {
    const result = readLine(line)
    if (result) byKey.set(keyOf(result), result)
  }
  // Without the line break the next line would be joined to the unfinished one.
  if (text !== '' && !text.endsWith('\n')) await appendFile(path, '\n')
  const results = [...byKey.values()]
  return {
    results: results as readonly SampleResult[],
    add: async (result: SampleResult): Promise<void> => {
      results.push(result)
      await appendFile(path, `${JSON.stringify(result)}\n`, { mode: 0o600, flush: true })
    },
  }
}

function readLine(line: string): SampleResult | null {
  try {
    const value = JSON.parse(line) as SampleResult
    return typeof value.scenario === 'string' && typeof value.passed === 'boolean' && Number.isInteger(value.sample)
      ? value
      : null
  } catch {
    return null
  }
}
