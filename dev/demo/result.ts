import type { Downloaded, PullRequest, Round, Session } from './api.ts'
import type { Collected } from './collect.ts'
import type { DemoMode } from './modes.ts'
import type { TraceTotals } from './trace.ts'

/** The object that `--json` prints. Its keys are documented and must not change. */
export interface DemoResult {
  session_id: string
  mode: DemoMode
  status: string
  statuses: string[]
  /** Changes of the reviewed plan; after an apply those it made, without a reviewed plan those of the last plan. */
  plan: { create: number; update: number; delete: number; replace: number }
  targets: string[]
  validation_attempts: number
  pull_request: PullRequest | null
  artifacts: Downloaded[]
  engine: { name: string; version: string }
  duration_s: number
  engine_s: number
  model_s: number
  /** Seconds of the platform itself: the duration without the time of engine and model. */
  platform_s: number
  /** The text of the last status. */
  message: string
  /** Facts of the last report. */
  report: { type: string; status: string | null; summary: unknown } | null
  locked: boolean
  /** Set with `--trace` only. */
  trace?: TraceTotals
  checks: Check[]
  ok: boolean
}
export interface Check {
  name: string
  ok: boolean
}

/** Makes the result of a mode that could not be played. */
export const unplayedResult = (mode: DemoMode, engine: DemoResult['engine'], message: string): DemoResult => ({
  session_id: '',
  mode,
  status: 'failed',
  statuses: [],
  plan: { create: 0, update: 0, delete: 0, replace: 0 },
  targets: [],
  validation_attempts: 0,
  pull_request: null,
  artifacts: [],
  engine,
  duration_s: 0,
  engine_s: 0,
  model_s: 0,
  platform_s: 0,
  message,
  report: null,
  locked: false,
  checks: [{ name: 'the mode could be played', ok: false }],
  ok: false,
})

/** The last line of `--mode all --json`. Figures are sums; session, targets and pull request are of the first mode. */
export interface AllResult extends Omit<DemoResult, 'mode' | 'message' | 'report' | 'locked' | 'trace' | 'checks'> {
  mode: 'all'
  status: 'completed' | 'failed'
  statuses: string[]
  results: DemoResult[]
}

export const round3 = (value: number): number => Math.round(value * 1000) / 1000

/** Adds up the platform's measurements of all rounds. */
export function sumUsage(session: Session): Pick<DemoResult, 'engine_s' | 'model_s' | 'validation_attempts'> {
  const sum = (pick: (usage: NonNullable<Round['usage']>) => number) =>
    round3(session.rounds.reduce((total, { usage }) => total + (usage ? pick(usage) : 0), 0))
  return {
    engine_s: sum((usage) => usage.engine_s),
    model_s: sum((usage) => usage.model_s),
    validation_attempts: sum((usage) => usage.validation_attempts),
  }
}

export function readCounts({ reports, plan }: Collected): DemoResult['plan'] {
  const { apply, generate } = reports
  if (apply)
    return { create: apply.summary.created, update: apply.summary.updated, delete: apply.summary.destroyed, replace: 0 }
  if (generate) {
    const { create, update, delete: gone, recreate } = generate.summary
    return { create, update, delete: gone, replace: recreate }
  }
  return parseCounts(plan?.text ?? '')
}

/** Reads the counts from the text of a plan. The engine counts a replacement as two; here it is counted apart. */
export function parseCounts(text: string): DemoResult['plan'] {
  const [, add = 0, change = 0, destroy = 0] = (
    /^Plan: (?:\d+ to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy/m.exec(text) ?? []
  ).map(Number)
  const replace = (text.match(/^ +# \S.* (?:must|will) be replaced/gm) ?? []).length
  return { create: add - replace, update: change, delete: destroy - replace, replace }
}

export function pickReport({ reports }: Collected): DemoResult['report'] {
  const { apply, import: imported, drift, generate } = reports
  if (apply) return { type: 'apply', status: apply.status, summary: apply.summary }
  if (imported) return { type: 'import', status: imported.status, summary: imported.summary }
  if (drift) return { type: 'drift', status: drift.status, summary: drift.summary }
  return generate ? { type: 'generate', status: null, summary: generate.summary } : null
}

export function sumUp(results: DemoResult[], durationS: number): AllResult {
  const sum = (pick: (result: DemoResult) => number) =>
    round3(results.reduce((total, result) => total + pick(result), 0))
  const ok = results.length > 0 && results.every((result) => result.ok)
  const [first] = results
  return {
    session_id: first?.session_id ?? '',
    mode: 'all',
    status: ok ? 'completed' : 'failed',
    statuses: results.map(({ status }) => status),
    plan: {
      create: sum(({ plan }) => plan.create),
      update: sum(({ plan }) => plan.update),
      delete: sum(({ plan }) => plan.delete),
      replace: sum(({ plan }) => plan.replace),
    },
    targets: first?.targets ?? [],
    validation_attempts: sum((result) => result.validation_attempts),
    pull_request: first?.pull_request ?? null,
    artifacts: results.flatMap((result) => result.artifacts),
    engine: first?.engine ?? { name: 'unknown', version: 'unknown' },
    duration_s: round3(durationS),
    engine_s: sum((result) => result.engine_s),
    model_s: sum((result) => result.model_s),
    platform_s: sum((result) => result.platform_s),
    ok,
    results,
  }
}
