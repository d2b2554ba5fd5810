import type { Operation } from '../base/vocabulary.ts'

/**
 * The steps of an attempt, in their order. `import` brings resources into the state, which only import loops do, and
 * `check` compares a plan with what was asked for.
 */
export const ATTEMPT_STEPS = ['generate', 'init', 'validate', 'plan', 'show', 'import', 'check'] as const
export type AttemptStepName = (typeof ATTEMPT_STEPS)[number]

export const STEP_OUTCOMES = ['ok', 'failed', 'skipped'] as const
export type StepOutcome = (typeof STEP_OUTCOMES)[number]

/**
 * How an attempt ended. `accepted`: the round went on with its code. `refused`: the engine or a check did not accept
 * its code. `failed`: it could not be carried to its end, for example because a model did not answer. `cancelled`: somebody
 * ended the round. `interrupted`: its worker stopped or died.
 */
export const ATTEMPT_OUTCOMES = ['accepted', 'refused', 'failed', 'cancelled', 'interrupted'] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

/** One step with all of its runs in an attempt. */
export interface AttemptStep {
  name: AttemptStepName
  /** Of its last run; `skipped` when it was not needed or not reached. */
  outcome: StepOutcome
  /** Wall clock, over all runs. */
  seconds: number
  runs: number
}

/** What the engine or a check found. All texts are masked and shortened. */
export interface AttemptDiagnostic {
  severity: 'error' | 'warning'
  /** The step that found it; null when no step did, for example when a model did not answer. */
  step: AttemptStepName | null
  summary: string
  /** May have several lines; empty when there is none. */
  detail: string
  /** From the engine root; null when no file is concerned. */
  file: string | null
  line: number | null
  /** Lines of code with their numbers; empty when none are quoted. */
  snippet: string
  address: string | null
  /** Id of the rule that found it; null when no rule did. */
  rule: string | null
}

/** What the model calls during an attempt used. */
export interface AttemptSpending {
  input_tokens: number
  cached_tokens: number
  output_tokens: number
  /** US dollars; null when the price of a model is not known. */
  cost_usd: number | null
}

/** What is recorded when an attempt ends. */
export interface AttemptEnd extends AttemptSpending {
  outcome: AttemptOutcome
  commit: string | null
  steps: AttemptStep[]
  /** The first ones, of `diagnostics_total`. */
  diagnostics: AttemptDiagnostic[]
  diagnostics_total: number
}

/** What is recorded when an attempt begins. */
export interface AttemptBegin {
  /** The loop that it belongs to. */
  task: Operation
  /** Why it began, masked; null for the first one of a round. */
  reason: string | null
}

/** One attempt of a generation loop, as it is published. */
export interface AttemptDetail {
  /** Counted from 1 over all loops and restarts of the round. */
  number: number
  /** How often the round had been started again by then; 0 in its first run. */
  restart: number
  task: Operation
  started_at: string
  /** Null while it runs. Of an attempt whose worker died: when the round was started again. */
  ended_at: string | null
  /** Null while it runs. */
  outcome: AttemptOutcome | null
  /** Empty until it has ended, and for good when its worker died. */
  steps: AttemptStep[]
  diagnostics: AttemptDiagnostic[]
  diagnostics_total: number
  /** Null when it changed nothing. */
  commit: string | null
  /** These four are null until it has ended, and for good when its worker died. */
  input_tokens: number | null
  cached_tokens: number | null
  output_tokens: number | null
  cost_usd: number | null
  /** Why the next attempt began; null when there is none. */
  next_reason: string | null
}
