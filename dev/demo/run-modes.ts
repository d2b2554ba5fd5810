import { waitUnlessAborted } from '../../src/base/time.ts'
import { ApiError, DemoError } from './api.ts'
import { type DemoMode, MODES } from './modes.ts'
import { type AllResult, type DemoResult, sumUp, unplayedResult } from './result.ts'
import { type ModeRun, runMode } from './run-mode.ts'
import { showAll } from './summary.ts'

/** The object for the last line of `--json`, and whether all modes succeeded. */
interface DemoEnd {
  line: DemoResult | AllResult
  ok: boolean
}

/** Everything that a run of a mode needs, except the mode and the signal that limits it. */
type Setting = Omit<ModeRun, 'mode' | 'signal'> & { signalFor(mode: DemoMode): AbortSignal }

export async function runModes(setting: Setting): Promise<DemoEnd> {
  const { options, display } = setting
  if (options.mode !== 'all') {
    const line = await play(setting, options.mode)
    return { line, ok: line.ok }
  }
  const results: DemoResult[] = []
  const began = performance.now()
  for (const mode of MODES) {
    if (setting.interruption.wanted) break
    const result = await play(setting, mode).catch((error: unknown) => reportUnplayed(setting, mode, error))
    results.push(result)
    if (options.json) display.line(JSON.stringify(result))
  }
  const line = sumUp(results, (performance.now() - began) / 1000)
  showAll(display, line)
  return { line, ok: line.ok }
}

function play({ signalFor, ...setting }: Setting, mode: DemoMode): Promise<DemoResult> {
  const signal = signalFor(mode)
  return waitUnlessAborted(runMode({ ...setting, mode, signal }), signal)
}

/** Reports a mode that could not be played, so that the others go on. An interruption ends all. */
function reportUnplayed({ stack, display }: Setting, mode: DemoMode, error: unknown): DemoResult {
  if (!(error instanceof ApiError) && !(error instanceof DemoError && !error.final)) throw error
  display.busy('')
  display.line(display.paint('red', `${mode}: ${error.message}\n`))
  return unplayedResult(mode, { name: stack.engine.name, version: stack.engine.version }, error.message)
}
