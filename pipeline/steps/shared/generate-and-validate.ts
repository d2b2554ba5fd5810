import { PlatformError } from '../../../src/base/errors.ts'
import type { Operation, Turn } from '../../../src/base/vocabulary.ts'
import { type GeneratorValues, iacGenerator, writeRepairQuery } from '../../../src/chains/iac-generator.ts'
import { fenceEarlierTurns } from '../../../src/chains/shared/conversation.ts'
import { storeCodeChange, storePlanText } from '../../../src/reports/artifacts.ts'
import type { Kit } from '../../kit/kit.ts'
import { renderSystem, runChain } from '../../kit/run-chain.ts'
import type { Conventions } from './compose-prompts.ts'
import { describeFailure, type EngineStep, explainFaultOutsideCode } from './diagnose.ts'
import { readSchemas } from './ground-generator.ts'
import { learnDeclaredSecrets } from './learn-declared-secrets.ts'
import { readForTask } from './look-at-repository.ts'

/** What a validator says about one attempt. */
export type Validation<Value> = {
  /** Text of the plan, masked; stored when it is not empty, also of a failed plan. */
  text: string
  targets: string[]
} & (
  | { ok: true; value: Value }
  | { ok: false; feedback: string; value?: Value; step?: EngineStep; goodEnough?: GoodEnough<Value> }
)

/** An attempt that was sent back, but is accepted after all when every later attempt fails. */
export interface GoodEnough<Value> {
  /** Writes the query for the next attempt, in place of the one that asks the generator to correct an error. */
  writeQuery(feedback: string): string
  /** Validates the attempt again, after its code was restored. */
  validateAgain(): Promise<Validation<Value>>
}

export interface GenerationTask<Value> {
  /** What the conversation keeps as the user's side of the turn. */
  query: string
  /** What the generator is asked in the first attempt: the query, with foreign text in it fenced as data. */
  prompt: string
  operation: Operation
  conventions: Conventions
  /** Whether the system text lists the forbidden actions, which it does in generate rounds only. */
  forbid: boolean
  /** Identifiers to import. */
  selectedIds?: readonly string[]
  maxAttempts: number
  validate: () => Promise<Validation<Value>>
}

/** Every attempt failed. */
export class ValidationLoopExceeded extends PlatformError {
  /** What the validator said about the last attempt; null when there was none. */
  readonly last: Validation<unknown> | null
  constructor(
    last: Validation<unknown> | null,
    code = 'ValidationLoopExceededError',
    message = 'Validation loop exceeded.',
  ) {
    super(code, 422, message)
    this.last = last
  }
}

/**
 * The engine failed for a reason outside of the code, so that no further attempt is made. The message says what has to
 * be done.
 */
export class EnvironmentFailure extends ValidationLoopExceeded {
  constructor(last: Validation<unknown>, message: string) {
    super(last, 'EnvironmentFailure', message)
  }
}

/**
 * Lets the generator, a model, write code until the validator accepts it, and answers the value of the accepted
 * attempt. Each attempt is committed and pushed before it is validated. The turn of the task is added to the
 * conversation of the session. When the attempts fail, but an earlier one was good enough, the code of that one is
 * restored, validated again, and is the result.
 * Errors: `ValidationLoopExceeded` when the attempts are used up; `EnvironmentFailure` when no attempt can help; those
 * of `runAgent`, of the workspace and of the object store.
 */
export async function generateAndValidate<Value>(kit: Kit, task: GenerationTask<Value>): Promise<Value> {
  const { run, secrets } = kit
  const best: { fallback: Fallback<Value> | null } = { fallback: null }
  const { value, summary } = await runAttempts(kit, task, best).catch(async (error: unknown) => {
    if (!best.fallback || !(error instanceof PlatformError) || run.signal.aborted) throw error
    run.log.warn('the code goes back to an earlier attempt that was good enough', { error })
    return await restoreFallback(kit, best.fallback, error)
  })
  run.conversation.push({ user: secrets.text(task.query), assistant: secrets.text(summary) })
  return value
}

/** An earlier attempt that is good enough, with the commit that holds its code. */
interface Fallback<Value> {
  commit: string
  summary: string
  validateAgain: GoodEnough<Value>['validateAgain']
}
interface Accepted<Value> {
  value: Value
  summary: string
}

/** @param best gets the last attempt that was good enough */
async function runAttempts<Value>(
  kit: Kit,
  task: GenerationTask<Value>,
  best: { fallback: Fallback<Value> | null },
): Promise<Accepted<Value>> {
  const { run, status } = kit
  const values: GeneratorValues = {
    operation: task.operation,
    forbid: task.forbid,
    ...task.conventions,
    selectedIds: task.selectedIds,
    task: task.prompt,
    repository: null,
    providerSchema: null,
  }
  const [system, repository] = await Promise.all([
    renderSystem(kit, iacGenerator, values),
    readForTask(kit, task.query),
  ])
  const conversation: Turn[] = fenceEarlierTurns(run.conversation)
  let prompt = task.prompt
  let situation = task.query
  let last: Validation<Value> | null = null
  for (let attempt = 1; attempt <= task.maxAttempts; attempt++) {
    run.meter.countAttempt()
    await status.say('generating', situation)
    const summary = await runChain(
      kit,
      iacGenerator,
      {
        ...values,
        task: prompt,
        // A later attempt sees the files in the query of the first, and has changed some of them since.
        repository: attempt === 1 ? repository : null,
        providerSchema: await readSchemas(kit, { query: prompt, templates: task.conventions.templates }),
      },
      { system, conversation },
    )
    conversation.push({ user: prompt, assistant: summary })
    const commit = await publishChanges(kit)
    await status.say('validating', 'Waiting for infrastructure as code to be validated.')
    last = await task.validate()
    await storePlan(kit, last)
    if (last.ok) return { value: last.value, summary }
    situation = last.feedback
    if (last.goodEnough) best.fallback = { commit, summary, validateAgain: last.goodEnough.validateAgain }
    const findings = await diagnoseFailure(kit, last, attempt < task.maxAttempts)
    prompt = last.goodEnough ? last.goodEnough.writeQuery(situation) : writeRepairQuery(situation, findings)
  }
  throw new ValidationLoopExceeded(last)
}

/**
 * Restores the code of an earlier attempt and validates it again.
 * @param error why the attempts failed; thrown when the earlier attempt is not valid any more
 */
async function restoreFallback<Value>(
  kit: Kit,
  fallback: Fallback<Value>,
  error: PlatformError,
): Promise<Accepted<Value>> {
  await kit.run.workspace.restore(fallback.commit)
  await publishChanges(kit)
  const validation = await fallback.validateAgain()
  if (!validation.ok) throw error
  await storePlan(kit, validation)
  return { value: validation.value, summary: fallback.summary }
}

async function storePlan({ run }: Kit, { text, targets }: Validation<unknown>): Promise<void> {
  if (text !== '') await storePlanText(run.context, run.round, { text, targets }, run.signal)
}

/**
 * Describes what the engine found, for the next attempt; empty when there is none, or when no step of the engine
 * failed.
 * Errors: `EnvironmentFailure` when no change of the code can correct the failure.
 */
async function diagnoseFailure(
  kit: Kit,
  last: Extract<Validation<unknown>, { ok: false }>,
  hasNextAttempt: boolean,
): Promise<string> {
  const { step, feedback } = last
  if (!step) return ''
  const reason = await explainFaultOutsideCode(kit, feedback)
  if (reason !== null) throw new EnvironmentFailure(last, reason)
  return hasNextAttempt ? await describeFailure(kit, { step, feedback }) : ''
}

/** Artifacts of one attempt that are uploaded at the same time. */
const UPLOADS = 8

/** Stores every changed file as an artifact, then commits and pushes all of them. Answers the commit. */
async function publishChanges(kit: Kit): Promise<string> {
  const { run, secrets } = kit
  await learnDeclaredSecrets(kit)
  const changes = await run.workspace.pendingChanges()
  await forEachOf(changes, UPLOADS, (change) =>
    storeCodeChange(run.context, run.round, { ...change, content: secrets.text(change.content) }, run.signal),
  )
  return await run.workspace.commitAndPush(run.signal)
}

/**
 * Does the work for all items, for at most `limit` at a time. The first failure is thrown, and no further item begins.
 */
async function forEachOf<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  let failed = false
  const worker = async () => {
    for (const item of queue) {
      if (failed) return
      await work(item).catch((error: unknown) => {
        failed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
}
