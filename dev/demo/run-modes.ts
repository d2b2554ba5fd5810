import { ApiError } from './api.ts'
import { DemoError } from './errors.ts'
import { type DemoMode, MODES } from './modes.ts'
import { type AllResult, type DemoResult, sumUp } from './result.ts'
import { type ModeRun, runMode } from './run-mode.ts'
import { showAll } from './summary.ts'

/** What the last line of `--json` holds, and the exit code. */
export interface Played {
  line: DemoResult | AllResult
  ok: boolean
}

/** A run of one mode but for the mode and the signal that limits it. */
export type Setting = Omit<ModeRun, 'mode' | 'signal'> & { signalFor(mode: DemoMode): AbortSignal }

/** Plays the mode that was asked for, or all. */
export async function runModes(setting: Setting): Promise<Played> {
  const { options, display } = setting
  if (options.mode !== 'all') {
    const line = await play(setting, options.mode)
    return { line, ok: line.ok }
  }
  const results: DemoResult[] = []
  const began = performance.now()
  for (const mode of MODES) {
    const result = await play(setting, mode).catch((error: unknown) => unplayed(setting, mode, error))
    results.push(result)
    if (options.json) display.line(JSON.stringify(result))
  }
  const line = sumUp(results, (performance.now() - began) / 1000)
  showAll(display, line)
  return { line, ok: line.ok }
}

function play({ signalFor, ...setting }: Setting, mode: DemoMode): Promise<DemoResult> {
  const signal = signalFor(mode)
  return orAbort(runMode({ ...setting, mode, signal }), signal)
}

/** A cancelled call rejects in its own words; the reason of the signal says more. */
async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {})
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    }),
  ])
}

/** One mode that could not be played does not hide the others; an interruption ends everything. */
function unplayed({ stack, display }: Setting, mode: DemoMode, error: unknown): DemoResult {
  if (!(error instanceof ApiError) && !(error instanceof DemoError && !error.final)) throw error
  display.busy('')
  display.line(display.paint('red', `${mode}: ${error.message}\n`))
  return {
    session_id: '',
    mode,
    status: 'failed',
    statuses: [],
    plan: { create: 0, update: 0, delete: 0, replace: 0 },
    targets: [],
    validation_attempts: 0,
    pull_request: null,
    artifacts: [],
    engine: { name: stack.engine.name, version: stack.engine.version },
    duration_s: 0,
    engine_s: 0,
    model_s: 0,
    platform_s: 0,
    message: error.message,
    report: null,
    locked: false,
    checks: [{ name: 'the mode could be played', ok: false }],
    ok: false,
  }
}
