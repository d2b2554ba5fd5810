import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { PROJECT_ROOT } from '../dev/stack/data-folder.ts'
import { onInterrupt } from '../dev/stack/interrupts.ts'
import { fits } from '../src/intent/glob.ts'
import { loadIacEval } from './iac-eval/load.ts'
import { hashOf, loadScenarios } from './load-scenarios.ts'
import { type EvalOptions, HELP, readOptions, UsageError } from './options.ts'
import { openResults, type SampleResult } from './results.ts'
import { runSample } from './sample.ts'
import type { Scenario } from './scenario.ts'
import { selectRunnable } from './skip.ts'
import { type EvalStack, startEvalStack } from './stack.ts'
import { runSuite } from './suite.ts'
import { renderTable, type Summary, summarise } from './summary.ts'

const SCRIPTED_NOTE =
  'The scripted model plays recorded answers: this proves the harness only. The rates below say nothing ' +
  'about any model.'

async function run(options: EvalOptions): Promise<number> {
  const all = [...(await loadScenarios()), ...(options.iac_eval === null ? [] : await loadIacEval(options.iac_eval))]
  const { only } = options
  const scenarios = only === null ? all : all.filter(({ name }) => fits(only, name))
  if (scenarios.length === 0) throw new UsageError(`No scenario fits '${only}'; --list shows all.`)
  if (options.list) return list(scenarios)
  const folder = resolve(PROJECT_ROOT, options.data?.trim() || '.platform/eval')
  const interrupted = new AbortController()
  onInterrupt((signal) => interrupted.abort(new Error(`stopped by ${signal}; finished samples are kept`)))
  let stack: EvalStack | null = null
  try {
    console.error('starting the embedded stack')
    stack = await startEvalStack({
      folder,
      env: process.env,
      scripted: options.scripted,
      concurrency: options.concurrency,
      record_folder: options.record === null ? null : resolve(options.record),
      signal: interrupted.signal,
    })
    const summary = await evaluate(options, {
      all,
      scenarios,
      folder,
      stack,
      signal: endingWithStack(stack, interrupted.signal),
    })
    if (summary.scripted) console.log(SCRIPTED_NOTE)
    for (const line of renderTable(summary)) console.log(line)
    if (options.json) console.log(JSON.stringify(summary))
    return summary.scripted && summary.passed < summary.samples ? 1 : 0
  } finally {
    await stack?.stop()
  }
}

interface Setting {
  all: readonly Scenario[]
  scenarios: readonly Scenario[]
  folder: string
  stack: EvalStack
  signal: AbortSignal
}

async function evaluate(options: EvalOptions, { all, scenarios, folder, stack, signal }: Setting): Promise<Summary> {
  const { name: model, scripted } = stack.model
  if (!options.scripted && scripted)
    throw new UsageError(
      'No model is configured: set PLATFORM_LLM_MODEL or the key of a provider, or use --scripted to try the harness.',
    )
  const { runnable, skipped } = await selectRunnable(scenarios, {
    scripted,
    env: process.env,
    roots: stack.roots,
    signal,
  })
  const path = options.resume ?? join(folder, 'results', `${hashOf([all, model])}.jsonl`)
  if (options.fresh || (scripted && options.resume === null)) await rm(path, { force: true })
  const store = await openResults(path)
  console.error(`model ${model}; ${runnable.length} scenarios, ${skipped.length} skipped; results in ${path}`)
  const { results, stopped } = await runSuite({
    ...options,
    scenarios: runnable,
    model,
    store,
    run: (scenario) => runSample(stack, scenario, options.limitS, signal),
    progress: tell,
    now: () => new Date(),
    signal,
  })
  return summarise(results, { model, scripted, engine: stack.engine, k: options.k, skipped, stopped })
}

function tell(
  { scenario, sample, passed, duration_s, failures, cost_usd }: SampleResult,
  done: number,
  total: number,
): void {
  const cost = cost_usd === null ? '' : `, ${cost_usd.toFixed(4)} USD`
  console.error(
    `[${done}/${total}] ${passed ? 'pass' : 'FAIL'} ${scenario} #${sample} (${duration_s.toFixed(1)} ` +
      `s${cost}) ${failures[0] ?? ''}`,
  )
}

/** A signal that also fires when a process of the stack ends by itself. */
function endingWithStack(stack: EvalStack, signal: AbortSignal): AbortSignal {
  const died = new AbortController()
  void stack.failed.then((text) => died.abort(new Error(text)))
  return AbortSignal.any([signal, died.signal])
}

function list(scenarios: readonly Scenario[]): number {
  for (const { name, cloud, mode, providers, recorded, follow_up } of scenarios) {
    const marks = [
      providers.length > 0 && `providers ${providers.join(', ')}`,
      follow_up.some((step) => 'apply' in step) && 'apply',
      recorded && 'recorded',
    ]
    console.log(
      [name.padEnd(44), cloud.padEnd(11), mode.padEnd(15), marks.filter(Boolean).join('; ')].join(' ').trimEnd(),
    )
  }
  return 0
}

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2))
    if (options) return await run(options)
    console.log(HELP)
    return 0
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    if (error instanceof UsageError) console.error('npm run eval -- --help lists the options.')
    return error instanceof UsageError ? 2 : 1
  }
}

process.exit(await main())
