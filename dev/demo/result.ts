import type { StackEngine } from '../stack/data-folder.ts'
import type { PullRequest, Round, Session } from './api.ts'
import type { Collected } from './collect.ts'
import type { DemoMode } from './options.ts'
import type { sumSpans } from './trace.ts'

/** The object that `--json` prints. Its keys are documented and must not change. */
export interface DemoResult extends ReturnType<typeof resultOf> {
  /** Set with `--trace` only. */
  trace?: ReturnType<typeof sumSpans>
}

/** Makes the result of a mode that took this many seconds. */
export function resultOf(mode: DemoMode, engine: Engine, evidence: Evidence, durationS: number) {
  const { session, collected, pull_request } = evidence
  const { validation_attempts, engine_s, model_s } = sumUsage(session)
  const checks = checksOf(mode, evidence)
  return {
    session_id: session.uuid,
    mode,
    status: session.current_status,
    statuses: session.rounds.flatMap((round) => round.statuses.map(({ status }) => status)),
    /** Changes of the reviewed plan; after an apply those it made, without a reviewed plan those of the last plan. */
    plan: readCounts(collected),
    targets: collected.plan?.targets ?? [],
    validation_attempts,
    pull_request,
    artifacts: collected.artifacts,
    engine,
    duration_s: durationS,
    engine_s,
    model_s,
    /** Seconds of the platform itself: the duration without the time of engine and model. */
    platform_s: Math.max(0, round3(durationS - engine_s - model_s)),
    /** The text of the last status. */
    message: lastMessage(session),
    /** Facts of the last report. */
    report: pickReport(collected),
    locked: session.is_blocked,
    checks,
    ok: checks.every(({ ok }) => ok),
  }
}

type Engine = Pick<StackEngine, 'name' | 'version'>

/** Makes the result of a mode that could not be played. */
export const unplayedResult = (mode: DemoMode, engine: Engine, message: string): DemoResult => ({
  ...{ session_id: '', mode, status: 'failed', statuses: [] },
  plan: { create: 0, update: 0, delete: 0, replace: 0 },
  ...{ targets: [], validation_attempts: 0, pull_request: null, artifacts: [], engine },
  ...{ duration_s: 0, engine_s: 0, model_s: 0, platform_s: 0 },
  ...{ message, report: null, locked: false },
  checks: [{ name: 'the mode could be played', ok: false }],
  ok: false,
})

export type AllResult = ReturnType<typeof sumUp>

export const round3 = (value: number): number => Math.round(value * 1000) / 1000

/** Adds up the platform's measurements of all rounds. */
export function sumUsage(session: Session) {
  const sum = (pick: (usage: NonNullable<Round['usage']>) => number) =>
    round3(session.rounds.reduce((total, { usage }) => total + (usage ? pick(usage) : 0), 0))
  return {
    engine_s: sum((usage) => usage.engine_s),
    model_s: sum((usage) => usage.model_s),
    validation_attempts: sum((usage) => usage.validation_attempts),
  }
}

export function readCounts({ reports, plan }: Collected) {
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
export function parseCounts(text: string) {
  const [, add = 0, change = 0, destroy = 0] = (
    /^Plan: (?:\d+ to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy/m.exec(text) ?? []
  ).map(Number)
  const replace = (text.match(/^ +# \S.* (?:must|will) be replaced/gm) ?? []).length
  return { create: add - replace, update: change, delete: destroy - replace, replace }
}

export function pickReport({ reports }: Collected) {
  const type = (['apply', 'import', 'drift', 'generate'] as const).find((name) => reports[name])
  if (!type) return null
  const { status = null, summary } = reports[type] as { status?: string; summary: unknown }
  return { type, status, summary }
}

/** Makes the last line of `--mode all --json`. Figures are sums; session, targets and pull request of the first mode. */
export function sumUp(results: DemoResult[], durationS: number) {
  const sum = (pick: (result: DemoResult) => number) =>
    round3(results.reduce((total, result) => total + pick(result), 0))
  const ok = results.length > 0 && results.every((result) => result.ok)
  const [first] = results
  return {
    session_id: first?.session_id ?? '',
    mode: 'all' as const,
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

/** The results of a mode. */
export interface Evidence {
  session: Session
  collected: Collected
  pull_request: PullRequest | null
  /** The answers to apply and merge on a locked session; empty when they were not tried. */
  refusals: { status: number; detail: string }[]
}

type Condition = [name: string, holds: (evidence: Evidence) => boolean | undefined]

const ends = (status: string): Condition => [
  `the session is ${status}`,
  ({ session }) => session.current_status === status,
]
const pullRequestOpen: Condition = ['the pull request is open', ({ pull_request }) => pull_request?.status === 'open']
const nothingLeft: Condition = [
  'the last plan is empty',
  ({ collected: { plan } }) => plan !== null && Object.values(parseCounts(plan.text)).every((count) => count === 0),
]
const noChange: Condition = [
  'no code was changed',
  ({ session }) => session.rounds.every((round) => round.code_changes.length === 0),
]
const driftFound: Condition = ['drift was found', ({ collected }) => collected.drift.length > 0]

const drift: Condition[] = [
  ends('completed'),
  driftFound,
  ['the report says Succeeded', ({ collected }) => collected.reports.drift?.status === 'Succeeded'],
  nothingLeft,
  pullRequestOpen,
]
const imports: Condition[] = [
  ends('completed'),
  [
    'all that was selected is imported',
    ({ collected: { reports } }) =>
      reports.import &&
      reports.import.summary.imported > 0 &&
      reports.import.summary.imported === reports.import.summary.selected,
  ],
  nothingLeft,
  pullRequestOpen,
]

const CHECKS: Record<DemoMode, Condition[]> = {
  generate: [ends('completed'), pullRequestOpen],
  'partial-drift': drift,
  'full-drift': drift,
  'partial-import': imports,
  'full-import': imports,
  apply: [
    ends('completed'),
    [
      'what was planned is created',
      ({ collected: { reports } }) =>
        reports.apply?.status === 'Success' && reports.apply.summary.created === reports.generate?.summary.create,
    ],
    pullRequestOpen,
  ],
  'drift-preview': [
    ends('completed'),
    noChange,
    driftFound,
    ['nothing was mended', ({ collected }) => collected.reports.drift?.remediated_resources.length === 0],
  ],
  'import-preview': [
    ends('completed'),
    noChange,
    ['resources are listed', ({ collected }) => (collected.preview?.counts.unmanaged ?? 0) > 0],
    ['nothing was imported', ({ collected }) => collected.reports.import?.summary.selected === 0],
  ],
  declined: [ends('uncompleted'), noChange],
  question: [ends('uncompleted'), noChange],
  blocked: [
    ends('completed'),
    ['the session is locked', ({ session }) => session.is_blocked],
    [
      'apply and merge answer 409',
      ({ refusals }) => refusals.length === 2 && refusals.every(({ status }) => status === 409),
    ],
  ],
  exhausted: [
    ends('failed'),
    ['the message says why', ({ session }) => lastMessage(session) === 'runner failed: Validation loop exceeded.'],
  ],
}

const lastMessage = (session: Session): string => session.rounds.at(-1)?.statuses.at(-1)?.message ?? ''

/** Checks point by point whether a mode ended as it should. */
export const checksOf = (mode: DemoMode, evidence: Evidence) =>
  CHECKS[mode].map(([name, holds]) => ({ name, ok: holds(evidence) === true }))
