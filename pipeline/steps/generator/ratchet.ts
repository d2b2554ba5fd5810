import type { Diagnostic } from '../../../src/plan/diagnostics/diagnostic.ts'
import { type EngineStep, formOf } from './diagnose.ts'

/** The steps of the engine that an attempt passes, in order. */
const STEPS: readonly EngineStep[] = ['init', 'validate', 'plan', 'show']

/** What an attempt passes before the engine is asked. */
const LOADED = 'all of its code is loaded'

/** What the ratchet reads of the validation of an attempt. */
export interface Judged {
  ok: boolean
  /** The step at which the engine refused the code. */
  step?: EngineStep
  /** Set when no engine was asked, because nothing loads the code. */
  unloaded?: string
  verdicts?: ReadonlyMap<string, boolean>
}

/** An attempt whose code stands, and what it was seen to pass. */
interface Standing {
  attempt: number
  commit: string
  passed: ReadonlySet<string>
}

/** Failures of one kind after which a loop ends, whatever attempts are left. */
export const MAX_SAME = 3

/** How often an attempt that the engine refuses may be mended before the code goes back. */
const MAX_LOSSES = 1

/**
 * Creates the ratchet of a loop: it holds what attempts have passed, so that none is taken that loses a check which an
 * earlier one passed. Checks are the steps of the engine and the named ones of the validation.
 */
export function createRatchet() {
  let best: Standing | null = null
  let losses = 0
  const failures = new Map<string, number>()
  return {
    /**
     * Compares an attempt with what earlier ones passed, and takes it when it loses nothing. `goesBack` is the attempt
     * whose code has to be restored: at once after a valid plan, because its code has nothing to be mended for, and
     * after a second attempt in a row that the engine refuses, since one mistake is mended more cheaply than repeated.
     */
    judge: (validation: Judged, attempt: number, commit: string) => {
      const { passed, failed } = checksOf(validation)
      const lost = [...failed].filter((name) => best?.passed.has(name))
      const { ok, step, unloaded } = validation
      const isRefusedByEngine = !ok && (step !== undefined || unloaded !== undefined)
      if (lost.length === 0) {
        best = { attempt, commit, passed: new Set([...(best?.passed ?? []), ...passed]) }
        losses = 0
        return { lost, isTaken: true, standing: best, goesBack: null }
      }
      losses++
      const goesBack = isRefusedByEngine && losses <= MAX_LOSSES ? null : best
      if (goesBack) losses = 0
      return { lost, isTaken: false, standing: best, goesBack }
    },
    /** Counts a failure, and returns how often one of its kind was counted: the same step and the same errors. */
    countFailure: (step: EngineStep | undefined, errors: readonly Diagnostic[], findings: string): number => {
      const what = errors.map(({ summary, address, file }) => `${summary}\n${address ?? file ?? ''}`)
      const kind = [step ?? '', ...(what.length > 0 ? new Set(what.sort()) : [formOf(findings)])].join('\n')
      const count = (failures.get(kind) ?? 0) + 1
      failures.set(kind, count)
      return count
    },
  }
}

/** Names what a validation proves to pass and to fail. What it could not check is in neither. */
function checksOf(validation: Judged): Record<'passed' | 'failed', Set<string>> {
  if (!validation.ok && validation.unloaded !== undefined) return { passed: new Set(), failed: new Set([LOADED]) }
  const step = validation.ok ? undefined : validation.step
  if (step !== undefined)
    return { passed: new Set([LOADED, ...STEPS.slice(0, STEPS.indexOf(step))]), failed: new Set([step]) }
  const verdicts = [...(validation.verdicts ?? [])]
  const named = (wanted: boolean) => verdicts.filter(([, isPassed]) => isPassed === wanted).map(([name]) => name)
  return { passed: new Set([LOADED, ...STEPS, ...named(true)]), failed: new Set(named(false)) }
}
