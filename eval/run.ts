import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { onInterrupt, runCommand, UsageError } from '../dev/command.ts'
import { addEngineForStack } from '../dev/engine/provide.ts'
import { dataFolder } from '../dev/stack/data-folder.ts'
import { fits } from '../src/rules/intent/glob.ts'
import { type Emulator, startEmulator } from './emulator.ts'
import { printStatistics, runHelper } from './hand/helpers.ts'
import { type HandEndpoint, handVariables, openEndpoint, PATIENCE_S, serve } from './hand/server.ts'
import { loadIacEval } from './iac-eval.ts'
import { type EvalOptions, HELP, readOptions } from './options.ts'
import { runSample } from './sample.ts'
import { hashOf, loadScenarios, type Scenario } from './scenario/scenario.ts'
import { selectRunnable } from './skip.ts'
import { type EvalStack, startEvalStack } from './stack.ts'
import { openResults, runSuite, type SampleResult } from './suite.ts'
import { renderTable, type Summary, summarise } from './summary.ts'

const SCRIPTED_NOTE =
  'The scripted model plays recorded answers: this proves the harness only. The rates below say nothing ' +
  'about any model.'

async function run(options: EvalOptions): Promise<number> {
  const { hand, fresh } = options
  const task = hand?.task
  if (hand && task && task.kind !== 'play' && task.kind !== 'serve') return await runHelper(hand, task, options.json)
  const { iac_eval } = options
  const cases = iac_eval === null ? [] : await loadIacEval(iac_eval.folder, iac_eval.cases)
  const all = [...(await loadScenarios()), ...cases]
  const { only } = options
  const scenarios = only === null ? all : all.filter(({ name }) => fits(only, name))
  if (scenarios.length === 0) throw new UsageError(`No scenario fits '${only}'; --list shows all.`)
  if (options.list) return list(scenarios)
  const interrupted = new AbortController()
  onInterrupt((signal) => interrupted.abort(new Error(`stopped by ${signal}; finished samples are kept`)))
  const { signal } = interrupted
  const suite = { all, scenarios, signal }
  if (!hand) return await measure(options, suite, null)
  if (task?.kind !== 'serve') return await playByHand(options, await openEndpoint(hand, fresh), suite)
  await serve(hand, { fresh, signal })
  return 0
}

/** Measures with people as the model, and prints statistics of their calls even if the run ends early. */
async function playByHand(options: EvalOptions, endpoint: HandEndpoint, suite: Suite): Promise<number> {
  try {
    return await measure(options, suite, endpoint)
  } finally {
    await endpoint.close()
    if (!options.json) await printStatistics(endpoint.folder, false)
  }
}

interface Suite {
  all: readonly Scenario[]
  scenarios: readonly Scenario[]
  signal: AbortSignal
}

/**
 * Starts the stack, runs the suite and prints its summary.
 * @param endpoint where people answer, if they do
 */
async function measure(options: EvalOptions, suite: Suite, endpoint: HandEndpoint | null): Promise<number> {
  const { signal } = suite
  const folder = dataFolder(options.data, '.platform/eval')
  let stack: EvalStack | null = null
  let emulator: Emulator | null = null
  try {
    await addEngineForStack(signal)
    if (options.emulate !== null) emulator = await startEmulator(folder, signal)
    console.error('starting the embedded stack')
    stack = await startEvalStack({
      folder,
      env: { ...process.env, ...(endpoint && handVariables(endpoint.url)) },
      scripted: options.scripted,
      concurrency: options.concurrency,
      record_folder: options.record === null ? null : resolve(options.record),
      ...(endpoint && { modelTimeoutS: PATIENCE_S }),
      emulator_url: emulator?.url,
      signal,
    })
    const died = new AbortController()
    void stack.failed.then((text) => died.abort(new Error(text)))
    void emulator?.ended.catch((error: unknown) => died.abort(error))
    const setting = { ...suite, folder, stack, endpoint, signal: AbortSignal.any([signal, died.signal]) }
    const summary = await evaluate(options, setting)
    if (summary.scripted) console.log(SCRIPTED_NOTE)
    for (const line of renderTable(summary)) console.log(line)
    if (options.json) console.log(JSON.stringify(summary))
    return summary.scripted && summary.passed < summary.samples ? 1 : 0
  } finally {
    await stack?.stop()
    await emulator?.close()
  }
}

async function evaluate(
  options: EvalOptions,
  setting: Suite & { folder: string; stack: EvalStack; endpoint: HandEndpoint | null },
): Promise<Summary> {
  const { all, scenarios, folder, stack, endpoint, signal } = setting
  const { name: model, scripted } = stack.model
  if (!options.scripted && scripted)
    throw new UsageError(
      'No model is configured: set PLATFORM_LLM_MODEL or the key of a provider, or use --scripted to try the harness.',
    )
  const { roots } = stack
  const { runnable, skipped } = await selectRunnable(scenarios, { scripted, env: process.env, roots, signal })
  const path = options.resume ?? join(folder, 'results', `${hashOf([all, model])}.jsonl`)
  if (options.fresh || ((scripted || endpoint) && options.resume === null)) await rm(path, { force: true })
  const store = await openResults(path)
  console.error(`model ${model}; ${runnable.length} scenarios, ${skipped.length} skipped; results in ${path}`)
  const { results, stopped } = await runSuite({
    ...options,
    scenarios: runnable,
    model,
    store,
    run: (scenario, sample) => {
      const lane = `${scenario.name} #${sample}`
      return runSample(stack, scenario, options.limitS, signal, (round, request) =>
        endpoint?.beginRound(lane, `${lane}, round ${round}`, request),
      ).finally(() => endpoint?.endRounds(lane))
    },
    progress: tell,
    now: () => new Date(),
    signal,
  })
  return summarise(results, { model, scripted, engine: stack.engine, k: options.k, skipped, stopped })
}

function tell({ scenario, sample, passed, duration_s, failures, cost_usd }: SampleResult, done: number, total: number) {
  const cost = cost_usd === null ? '' : `, ${cost_usd.toFixed(4)} USD`
  console.error(
    `[${done}/${total}] ${passed ? 'pass' : 'FAIL'} ${scenario} #${sample} (${duration_s.toFixed(1)} ` +
      `s${cost}) ${failures[0] ?? ''}`,
  )
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

process.exit(
  await runCommand('npm run eval', HELP, async (args) => {
    const options = readOptions(args)
    return options && (await run(options))
  }),
)
