import { PlatformError } from '../../../src/base/errors.ts'
import { endSentence } from '../../../src/base/text.ts'
import type { Operation } from '../../../src/base/vocabulary.ts'
import { BudgetReached } from '../../../src/budget/budget.ts'
import {
  writeAttemptNote,
  writeFeedbackQuery,
  writeFormattedNote,
  writeLossNote,
  writeRepairQuery,
} from '../../../src/chains/iac-generator.ts'
import type { Diagnostic } from '../../../src/plan/diagnostics/diagnostic.ts'
import type { Kit } from '../../kit/kit.ts'
import { storePlan } from '../plan/store-plan.ts'
import type { Conventions } from '../shared/compose-prompts.ts'
import { findUnloaded } from './changed-code.ts'
import { type Attempt, addToResult, composeResult, joinParts } from './compose-result.ts'
import {
  areOlder,
  areSameFindings,
  describeErrors,
  describeUnchanged,
  explainFaultOutsideCode,
  findErrors,
  readDiagnostics,
  withoutWarnings,
} from './diagnose.ts'
import { type GeneratorDialogue, openGenerator } from './generator-dialogue.ts'
import { describeLoss, outcomeOf } from './outcome.ts'
import { publishChanges } from './publish-changes.ts'
import { createRatchet, MAX_SAME } from './ratchet.ts'
import {
  CodeNotLoaded,
  EnvironmentFailure,
  type GoodEnough,
  LeftUnchanged,
  type Validation,
  ValidationLoopExceeded,
  wordsAbout,
} from './validation.ts'

export interface GenerationTask<Value> {
  /** The task, worded for the user's status. */
  query: string
  /** The query of the first attempt, with foreign text fenced as data. */
  prompt: string
  operation: Operation
  conventions: Conventions
  /** True if the system text lists the forbidden actions, as in generate rounds only. */
  forbid: boolean
  /** Identifiers to import. */
  importIds?: readonly string[]
  maxAttempts: number
  validate: () => Promise<Validation<Value>>
}

/**
 * Lets the generator, a model, write code until the validator accepts it, and returns the accepted value. Attempts
 * share a conversation, and each is committed before its validation and pushed beside it. An attempt that loses a check
 * which an earlier one passed is not taken. The third failure of the same kind ends the loop, and so does an attempt that leaves
 * refused code as it is. The result of the round includes the task if it is the purpose of the round. If all attempts
 * fail, the last good enough one is restored and validated again. Errors: `ValidationLoopExceeded` when the attempts
 * are used up; `EnvironmentFailure` when no attempt can help; `LeftUnchanged`; those of `runAgent`, of the workspace
 * and of the object store.
 */
export async function generateAndValidate<Value>(kit: Kit, task: GenerationTask<Value>): Promise<Value> {
  return (await openGeneration(kit, task)).value
}

/** A further attempt, asked for by what was found after the loop had ended. */
interface Objection<Value> {
  /** The query for the attempt. */
  prompt: string
  /** Why it is made, for the record of attempts. */
  reason: string
  /** Validates the code as it stands now, which is put back if the attempt is not taken. */
  validateAgain: GoodEnough<Value>['validateAgain']
}

/** Does the same, and lets the loop go on once more with the same conversation. */
export async function openGeneration<Value>(kit: Kit, task: GenerationTask<Value>) {
  const progress: Progress<Value> = {
    attempts: [],
    reason: 'task',
    prompt: task.prompt,
    findings: null,
    fallback: null,
    ratchet: createRatchet(),
    endsEarly: false,
    output: null,
    unchanged: null,
    trajectory: [],
    changed: new Set(),
  }
  const { query, operation, forbid, importIds, conventions, maxAttempts } = task
  const generator = await openGenerator(kit, { query, operation, forbid, importIds, ...conventions })
  const { value, isTaken } = await conclude(kit, task, progress, runAttempts(kit, task, progress, generator))
  const attempt = progress.attempts.length + 1
  return {
    value,
    /**
     * Makes one further attempt; null when the task has no attempt left, or ended with an earlier one. The attempt is
     * taken only if it is valid and loses no check that was passed before; otherwise the present code is put back and
     * validated again. The result of the whole task is added to that of the round once more. Errors: those of the loop,
     * when the code that was put back is not valid either.
     */
    again:
      !isTaken || attempt > maxAttempts
        ? null
        : async ({ prompt, reason, validateAgain }: Objection<Value>) => {
            const commit = await kit.run.workspace.head()
            const fallback = { commit, attempts: [...progress.attempts], validateAgain }
            const trajectory = progress.trajectory.with(-1, `${progress.trajectory.at(-1)}, but the audit objected`)
            Object.assign(progress, { prompt, fallback, trajectory, reason: 'audit' } satisfies Partial<
              Progress<Value>
            >)
            // Others' changes may have been written into the code since.
            generator.forgetCalls()
            const last = { ...task, maxAttempts: attempt, firstAttempt: attempt, reason }
            return await conclude(kit, last, progress, runAttempts(kit, last, progress, generator))
          },
  }
}

/**
 * Awaits a loop, goes back to good enough code when it fails, so that the last attempt is not taken, and adds the result
 * of the task to that of the round.
 */
async function conclude<Value>(
  kit: Kit,
  task: GenerationTask<Value>,
  progress: Progress<Value>,
  loop: Promise<Value>,
): Promise<{ value: Value; isTaken: boolean }> {
  const { run, secrets } = kit
  let isTaken = true
  const value = await loop.catch(async (error: unknown) => {
    await tellTrajectory(kit, progress, error)
    if (!progress.fallback || !(error instanceof PlatformError) || run.signal.aborted) throw error
    // What is left to do needs a model too.
    if (error instanceof BudgetReached) throw error
    run.log.warn('the code goes back to an earlier attempt that was good enough', { error })
    progress.attempts = progress.fallback.attempts
    isTaken = false
    return await restoreFallback(kit, task, { ...progress, ...progress.fallback }, error)
  })
  noteTrajectory(kit, progress.trajectory)
  if (task.operation === run.round.mode) {
    const { summary, assumptions, gaps, repairs } = composeResult(progress.attempts, [...progress.changed].sort())
    const masked = (texts: readonly string[]) => texts.map((text) => secrets.text(text))
    addToResult(run.result, {
      summary: secrets.text(summary),
      assumptions: masked(assumptions),
      gaps: masked(gaps),
      repairs: masked(repairs),
    })
  }
  return { value, isTaken }
}

interface Progress<Value> {
  attempts: Attempt[]
  /** The reason for the next attempt, with its query. */
  reason: Attempt['reason']
  prompt: string
  /** Findings of the last attempt. */
  findings: string | null
  /** The last good enough attempt with the commit of its code, and the attempts up to this one. */
  fallback: { commit: string; attempts: Attempt[]; validateAgain: GoodEnough<Value>['validateAgain'] } | null
  ratchet: ReturnType<typeof createRatchet>
  /** True after the last failure of a kind that a loop allows. */
  endsEarly: boolean
  /** What the engine said of the last attempt that it refused; null when it did not. */
  output: string | null
  /** Set after an attempt that changed nothing although the engine had refused the code with the same errors. */
  unchanged: { isOlder: boolean; message: string } | null
  /** What became of each attempt, masked. */
  trajectory: string[]
  /** The files that differ from the start of the round. */
  changed: Set<string>
}

async function runAttempts<Value>(
  kit: Kit,
  task: GenerationTask<Value> & { firstAttempt?: number; reason?: string },
  progress: Progress<Value>,
  generator: GeneratorDialogue,
): Promise<Value> {
  const { operation, maxAttempts, firstAttempt = 1 } = task
  let last: Validation<Value> | null = null
  for (let attempt = firstAttempt; attempt <= maxAttempts; attempt++) {
    const reason = task.reason ?? (attempt === 1 ? reasonOfLoop(task) : null)
    const facts = { task: operation, reason, judge: wordsAbout }
    last = await kit.attempts.record(facts, () => runAttempt(kit, task, { attempt, generator, progress }))
    if (last.ok) return last.value
    if (progress.unchanged) throw new LeftUnchanged(last, progress.unchanged)
    if (progress.endsEarly) break
  }
  throw last?.ok === false && last.unloaded !== undefined
    ? new CodeNotLoaded(last, last.unloaded)
    : new ValidationLoopExceeded(last)
}

/** Returns the reason for a further loop of the round; null for the first loop. */
const reasonOfLoop = ({ operation, query }: GenerationTask<unknown>): string | null =>
  operation === 'drift' ? `What differs from the infrastructure has to be written into the code: ${query}` : null

/** Makes one attempt and, unless it is accepted, prepares the next one. */
async function runAttempt<Value>(
  kit: Kit,
  task: GenerationTask<Value>,
  { attempt, generator, progress }: { attempt: number; generator: GeneratorDialogue; progress: Progress<Value> },
): Promise<Validation<Value>> {
  const { run, secrets, status } = kit
  run.meter.countAttempt()
  run.eventLog.activity({
    type: 'attempt.began',
    attempt,
    max_attempts: task.maxAttempts,
    task: task.operation,
    reason: progress.reason === 'task' ? null : progress.reason,
  })
  if (attempt === 1) await status.say('generating', task.query)
  else
    await status.show(
      'generating',
      `Attempt ${attempt} of ${task.maxAttempts}: attempt ${endSentence(progress.trajectory.at(-1) ?? '')}`,
    )
  const answer = await kit.attempts.step('generate', () => generator.ask(progress.prompt))
  const { commit, files, formatted, pushed } = await publish(kit, progress)
  if (files.length > 0) generator.forgetCalls()
  const after = progress.trajectory.at(-1) ?? ''
  progress.attempts.push({ ...answer, number: attempt, reason: progress.reason, after, files })
  const noted = pushed.then(() => {
    if (files.length > 0) kit.attempts.changed(commit)
  })
  // Validating an import writes the state, which must not be ahead of the code at the host.
  if (task.operation === 'import') await noted
  const last = await besidePush(noted, async (): Promise<Validation<Value>> => {
    await status.show('validating', 'Waiting for infrastructure as code to be validated.')
    return (await findUnloaded(kit)) ?? (await task.validate())
  })
  await storePlan(kit, last)
  const { lost, isTaken, standing, goesBack } = progress.ratchet.judge(last, attempt, commit)
  progress.trajectory.push(`${attempt} ${secrets.text(outcomeOf(last, lost))}`)
  if (last.ok && isTaken) return last
  const refused = last.ok ? { ...last, ok: false as const, feedback: describeLoss(lost, standing?.attempt) } : last
  progress.reason = refused.goodEnough ? 'request' : 'validation'
  if (isTaken && refused.goodEnough)
    progress.fallback = { commit, attempts: [...progress.attempts], validateAgain: refused.goodEnough.validateAgain }
  // Code that the engine rejects stays rejected; what only the request demands may be left out for a reason.
  const next = await writeNextQuery(kit, progress, refused, attempt < task.maxAttempts)
  const isRepeated =
    !refused.goodEnough && progress.findings !== null && areSameFindings(next.findings, progress.findings)
  progress.findings = next.findings
  const output = refused.step ? withoutWarnings(refused.feedback) : null
  const isLeft = output !== null && progress.output !== null && areSameFindings(output, progress.output)
  progress.output = output
  if (isLeft && files.length === 0) {
    const message = secrets.text(describeUnchanged(next.errors, answer.summary))
    progress.unchanged = { isOlder: areOlder(next.errors) === 'all', message }
  }
  if (goesBack && attempt < task.maxAttempts) {
    progress.attempts = progress.attempts.filter(({ number }) => number <= goesBack.attempt)
    await restore(kit, progress, goesBack.commit)
  }
  const note = writeAttemptNote({ attempt: attempt + 1, maxAttempts: task.maxAttempts, isRepeated })
  const loss = isTaken ? '' : writeLossNote({ lost: lost.map(secrets.text), goesBack: goesBack?.attempt ?? null })
  progress.prompt = joinParts([`${note} ${loss}${next.query}`, writeFormattedNote(goesBack ? [] : formatted)])
  return refused
}

/** Works on a commit while it is pushed, and waits for both, whose process works in the clone. A failed push counts. */
async function besidePush<Result>(pushed: Promise<unknown>, work: () => Promise<Result>): Promise<Result> {
  const [worked, push] = await Promise.allSettled([work(), pushed])
  if (push.status === 'rejected') throw push.reason
  if (worked.status === 'rejected') throw worked.reason
  return worked.value
}

async function publish(kit: Kit, { changed }: Pick<Progress<unknown>, 'changed'>) {
  const published = await publishChanges(kit)
  for (const path of published.files) changed.delete(path)
  for (const path of published.differing) changed.add(path)
  return published
}

/** Puts the code of an earlier attempt back, as a commit of its own. */
async function restore(kit: Kit, progress: Pick<Progress<unknown>, 'changed'>, commit: string): Promise<void> {
  await kit.run.workspace.restore(commit)
  const published = await publish(kit, progress)
  await published.pushed
  if (published.files.length > 0) kit.attempts.changed(published.commit)
}

/** Adds the outcomes of several attempts to the remarks of the round. */
function noteTrajectory({ run }: Kit, trajectory: readonly string[]): void {
  if (trajectory.length > 1) run.result.notes.push(`Attempts: ${trajectory.join('; ')}.`)
}

/** Says what was tried, before a loop ends without a valid attempt. */
async function tellTrajectory(
  kit: Kit,
  { trajectory, endsEarly }: Pick<Progress<unknown>, 'trajectory' | 'endsEarly'>,
  error: unknown,
): Promise<void> {
  if (!(error instanceof ValidationLoopExceeded) || trajectory.length < 2) return
  const reason = endsEarly ? `The same failure came ${MAX_SAME} times, so that no further attempt is made. ` : ''
  await kit.status.show('validating', `${reason}What was tried: attempt ${trajectory.join('; attempt ')}.`)
}

const RESTORED = 'No later attempt was valid: the code of an earlier one, which was good enough, is validated again.'

/** Restores and validates an earlier attempt as a new one; throws `error` when it is no longer valid. */
async function restoreFallback<Value>(
  kit: Kit,
  task: Pick<GenerationTask<Value>, 'operation'>,
  { commit, changed, validateAgain }: NonNullable<Progress<Value>['fallback']> & Pick<Progress<Value>, 'changed'>,
  error: PlatformError,
): Promise<Value> {
  const facts = { task: task.operation, reason: RESTORED, judge: wordsAbout }
  const validation = await kit.attempts.record(facts, async () => {
    await restore(kit, { changed }, commit)
    return await validateAgain()
  })
  if (!validation.ok) throw error
  await storePlan(kit, validation)
  return validation.value
}

/** Writes the next query from findings or raw output. Errors: `EnvironmentFailure` when code cannot help. */
async function writeNextQuery(
  kit: Kit,
  progress: Pick<Progress<unknown>, 'ratchet' | 'endsEarly'>,
  last: Extract<Validation<unknown>, { ok: false }>,
  hasNextAttempt: boolean,
) {
  const { step, query, feedback, targets, goodEnough, unloaded } = last
  const countFailure = (errors: readonly Diagnostic[], text: string) => {
    progress.endsEarly = progress.ratchet.countFailure(step, errors, text) >= MAX_SAME
  }
  if (unloaded !== undefined) countFailure([], feedback)
  if (goodEnough) return { query: goodEnough.query, findings: feedback, errors: [] }
  if (!step) return { query: query ?? writeFeedbackQuery(feedback), findings: feedback, errors: [] }
  const found = await readDiagnostics(kit, { step, feedback, targets }, { isRepeated: hasNextAttempt })
  const reason = await explainFaultOutsideCode(kit, found)
  const errors = await findErrors(kit, step, found)
  kit.attempts.diagnose(
    step,
    errors.map((one) => (one.older ? { ...one, detail: `${IS_OLDER}\n${one.detail}` } : one)),
  )
  if (reason !== null) throw new EnvironmentFailure(last, reason)
  countFailure(errors, withoutWarnings(feedback))
  const findings = hasNextAttempt ? await describeErrors(kit, errors) : ''
  if (findings !== '') return { query: writeRepairQuery(findings, areOlder(errors)), findings, errors }
  const output = withoutWarnings(feedback)
  return { query: writeFeedbackQuery(output), findings: output, errors }
}

const IS_OLDER = 'The code had this error before this session.'
