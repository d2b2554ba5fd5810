import { LeaseLost, PlatformError } from '../../src/base/errors.ts'
import type { Masker } from '../../src/base/masking.ts'
import { cutMiddle } from '../../src/base/text.ts'
import { ATTEMPT_STEPS, type Operation } from '../../src/base/vocabulary.ts'
import { STOPPING } from '../../src/data/queue.ts'
import { parseDiagnostics } from '../../src/plan/diagnostics/parse.ts'
import {
  type AttemptDiagnostic,
  type AttemptOutcome,
  type AttemptStep,
  type AttemptStepName,
  recordAttemptBegin,
  recordAttemptEnd,
  recordFindings,
  type StepOutcome,
} from '../../src/rounds/attempts.ts'
import type { Run } from './run.ts'

const UNEXPECTED = 'An unexpected error occurred.'
const RESTARTED = 'The round was interrupted and starts again.'

/**
 * Records the attempts of a run, which follow each other, masked. Steps report through `step`, `diagnose` and
 * `changed`, which do nothing outside of an attempt. A failing database is logged and does not end the round; only
 * `LeaseLost` is thrown.
 */
export function createAttempts(run: Run, secrets: Masker) {
  const { round, workspace, log, meter, signal } = run
  const { sql } = run.context
  /** Masks a text and removes the paths of the working copy. */
  const clean = (text: string) =>
    secrets.text(text.replaceAll(workspace.iacRoot, '.').replaceAll(`${workspace.clone}/`, ''))
  let open: ReturnType<typeof begin> | null = null
  let accepted: { number: number; found: FoundIn[] } | null = null
  /** The reason for the next attempt, from the findings of the last one. */
  let known: string | null = null
  let isFirst = true

  const write = async <T>(work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof LeaseLost) throw error
      log.warn('the record of an attempt could not be written', { error })
      return null
    }
  }
  const diagnosticsOf = (found: readonly FoundIn[], number: number) =>
    publishFindings(found.slice(0, number > MAX_KEPT.after ? MAX_KEPT.later : MAX_KEPT.first), clean)

  const begin = (task: Operation, reason: string | null) => {
    const why = isFirst && round.attempt > 1 ? RESTARTED : (reason ?? known)
    isFirst = false
    known = null
    return {
      facts: { task, reason: why === null ? null : cutMiddle(onOneLine(clean(why)), MAX.reason) },
      steps: createStepTimes(),
      found: [] as FoundIn[],
      /** The commit that holds its changes; null while there are none. */
      commit: null as string | null,
      /** Model usage since the attempt began. */
      spent: meter.mark(),
    }
  }

  return {
    /**
     * Runs one attempt and records its start and end. Errors: `LeaseLost`; those of the work.
     * @param facts.reason why it begins, where the previous attempt does not explain it
     * @param facts.judge returns null to accept the attempt, else the text that becomes its finding when there is no
     * other
     */
    record: async <Result>(
      {
        task,
        reason,
        judge,
      }: { task: Operation; reason: string | null; judge(result: NoInfer<Result>): string | null },
      work: () => Promise<Result>,
    ): Promise<Result> => {
      const attempt = begin(task, reason)
      const { facts, found, steps } = attempt
      const begun = await write(() => recordAttemptBegin(sql, round, facts))
      const close = async (outcome: AttemptOutcome) => {
        if (outcome !== 'accepted') known = reasonOf(found)
        const number = begun ?? (await write(() => recordAttemptBegin(sql, round, facts)))
        if (number === null) return
        if (outcome === 'accepted') accepted = { number, found }
        const diagnostics = diagnosticsOf(found, number)
        const { commit, spent } = attempt
        const entry = { outcome, commit, steps: steps.read(task), diagnostics, diagnostics_total: found.length }
        await write(() => recordAttemptEnd(sql, round, number, { ...entry, ...spent() }))
      }
      const closeAfter = async (error: unknown) => {
        // A run that has lost its lease leaves this to the new holder.
        if (error instanceof LeaseLost || (signal.aborted && signal.reason instanceof LeaseLost)) return
        if (signal.aborted) return await close(signal.reason === STOPPING ? 'interrupted' : 'cancelled')
        const text = error instanceof PlatformError ? error.message : UNEXPECTED
        found.push(...foundIn(steps.failed(), findingsIn(text)))
        await close('failed')
      }
      open = attempt
      const result = await work()
        .catch(async (error: unknown) => {
          await closeAfter(error)
          throw error
        })
        .finally(() => {
          open = null
        })
      const words = judge(result)
      if (words !== null && found.every(({ severity }) => severity !== 'error'))
        found.push(...foundIn(steps.failed(), findingsIn(words)))
      await close(words === null ? 'accepted' : 'refused')
      return result
    },
    /** Runs and times a step, which fails on an error or when `isOk` returns false. */
    step: async <Result>(name: AttemptStepName, work: () => Promise<Result>, isOk?: (result: Result) => boolean) =>
      open ? await open.steps.measure(name, work, isOk) : await work(),
    /** Notes the findings of a step; they are masked and shortened when the attempt ends. */
    diagnose: (step: AttemptStepName, findings: readonly Finding[]) =>
      void open?.found.push(...foundIn(step, findings)),
    /** Notes the commit that holds the changes of the attempt. */
    changed: (commit: string) => {
      if (open) open.commit = commit
    },
    /**
     * Adds the findings of a later review of the plan to the last accepted attempt, which is refused after all if they
     * begin another one. Errors: `LeaseLost`.
     */
    review: async (findings: readonly Finding[], outcome: 'accepted' | 'refused' = 'accepted') => {
      if (!accepted || findings.length === 0) return
      const { number, found } = accepted
      found.push(...foundIn('check', findings))
      const entry = { diagnostics: diagnosticsOf(found, number), total: found.length, outcome }
      await write(() => recordFindings(sql, round, number, entry))
    },
  }
}

const foundIn = (step: AttemptStepName | null, findings: readonly Finding[]): FoundIn[] =>
  findings.map((finding) => ({ ...finding, step }))

export function createStepTimes(now: () => number = () => performance.now()) {
  const taken = new Map<AttemptStepName, { outcome: StepOutcome; ms: number; runs: number }>()
  let failed: AttemptStepName | null = null
  const note = (name: AttemptStepName, started: number, outcome: StepOutcome) => {
    const { ms, runs } = taken.get(name) ?? { ms: 0, runs: 0 }
    taken.set(name, { outcome, ms: ms + now() - started, runs: runs + 1 })
    if (outcome === 'failed') failed = name
    else if (failed === name) failed = null
  }
  return {
    /** Runs and times a step. Errors: those of the work, which mark the step as failed. */
    measure: async <Result>(
      name: AttemptStepName,
      work: () => Promise<Result>,
      isOk: (result: Result) => boolean = () => true,
    ): Promise<Result> => {
      const started = now()
      try {
        const result = await work()
        note(name, started, isOk(result) ? 'ok' : 'failed')
        return result
      } catch (error) {
        note(name, started, 'failed')
        throw error
      }
    },
    /** Returns the step whose latest run failed last; null when none did. */
    failed: () => failed,
    /** Returns all steps of such a loop in order, each with all of its runs. */
    read: (task: Operation): AttemptStep[] =>
      ATTEMPT_STEPS.filter((name) => task === 'import' || name !== 'import').map((name) => {
        const { outcome, ms, runs } = taken.get(name) ?? { outcome: 'skipped', ms: 0, runs: 0 }
        return { name, outcome, seconds: Math.round(ms) / 1000, runs }
      }),
  }
}

/** A problem that the engine or a check reported, unmasked. */
export type Finding = Pick<AttemptDiagnostic, 'severity' | 'summary'> &
  Partial<Omit<AttemptDiagnostic, 'severity' | 'summary' | 'step'>>

type FoundIn = Finding & Pick<AttemptDiagnostic, 'step'>

/** Findings stored per attempt: `first` of them, but only `later` of attempts with a number above `after`. */
const MAX_KEPT = { first: 20, later: 3, after: 50 }
/** Maximum characters of each part. */
const MAX = { summary: 300, detail: 800, snippet: 1_200, name: 300, reason: 500 } as const

/** Cleans and shortens findings. */
function publishFindings(found: readonly FoundIn[], clean: (text: string) => string): AttemptDiagnostic[] {
  const short = (text: string, most: number) => cutMiddle(clean(text), most)
  const name = (text: string | null | undefined) => (text ? short(text, MAX.name) : null)
  return found.map((one) => ({
    severity: one.severity,
    step: one.step,
    summary: short(one.summary, MAX.summary),
    detail: short(one.detail ?? '', MAX.detail),
    file: one.file?.startsWith('/') ? null : name(one.file),
    line: one.line ?? null,
    snippet: short(one.snippet ?? '', MAX.snippet),
    address: name(one.address),
    rule: one.rule ?? null,
  }))
}

const onOneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

const WORDS: Record<AttemptStepName, string> = {
  generate: 'The model did not finish its work',
  init: 'The engine could not initialise the code',
  validate: 'The engine does not accept the code',
  plan: 'The code could not be planned',
  show: 'The plan could not be read',
  import: 'Not everything could be imported',
  check: 'The plan is not what was asked for',
}

/** Returns a sentence that explains why these findings lead to another attempt. */
function reasonOf(found: readonly FoundIn[]): string {
  const errors = found.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (!first) return 'The attempt was not accepted.'
  const lead = first.step === null ? 'The attempt was not accepted' : WORDS[first.step]
  const place = first.file ? ` (${first.file}${first.line ? `:${first.line}` : ''})` : ''
  const summary = first.summary.trim().replace(/[.:]+$/, '')
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  return `${lead}${first.step === 'check' ? '.' : ':'} ${summary}${place}${more}.`
}

/** Reads findings from a text: its diagnostics if it has any, else its first lines. */
function findingsIn(text: string): Finding[] {
  const errors = parseDiagnostics(text).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) return errors
  const [summary = '', ...rest] = text.trim().split('\n')
  return summary === '' ? [] : [{ severity: 'error', summary, detail: rest.join('\n').trim() }]
}
