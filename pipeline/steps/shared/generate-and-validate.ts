import { PlatformError } from '../../../src/base/errors.ts'
import type { Operation, Turn } from '../../../src/base/vocabulary.ts'
import { type GeneratorValues, iacGenerator, writeRepairQuery } from '../../../src/chains/iac-generator.ts'
import { fenceEarlierTurns } from '../../../src/chains/shared/conversation.ts'
import { storeCodeChange, storePlanText } from '../../../src/reports/artifacts.ts'
import type { Kit } from '../../kit/kit.ts'
import { renderSystem, runChain } from '../../kit/run-chain.ts'
import type { Conventions } from './compose-prompts.ts'
import { describeFailure, type EngineStep, whyUnmendable } from './diagnose.ts'
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
  | { ok: false; feedback: string; value?: Value; step?: EngineStep; good_enough?: GoodEnough<Value> }
)

/** For an attempt that would do, should none of the later ones turn out better. */
export interface GoodEnough<Value> {
  /** Writes what the generator is asked instead of mending an error. */
  writeQuery(feedback: string): string
  /** Validates it once more, after its code was restored. */
  again(): Promise<Validation<Value>>
}

export interface GenerationTask<Value> {
  /** User side of the kept turn. */
  query: string
  /** What the generator is asked on the first attempt: the query with its foreign parts fenced. */
  prompt: string
  operation: Operation
  conventions: Conventions
  /** Forbidden actions are told in generate rounds only. */
  forbid: boolean
  /** Identifiers to import. */
  selected_ids?: readonly string[]
  max_attempts: number
  validate: () => Promise<Validation<Value>>
}

/** Every attempt failed. `last` is what the validator said about the last one. */
export class ValidationLoopExceeded extends PlatformError {
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

/** The engine failed for a reason outside of the code: further attempts are not made. The message says what to do. */
export class EnvironmentFailure extends ValidationLoopExceeded {
  constructor(last: Validation<unknown>, message: string) {
    super(last, 'EnvironmentFailure', message)
  }
}

/**
 * Lets the generator write until the validator is content; each attempt is committed and pushed before
 * it is validated. The task's turn joins the session's conversation. When that fails after an attempt that
 * is good enough, the code goes back to it and it is the result.
 * Errors: `ValidationLoopExceeded` when the attempts are used up, `EnvironmentFailure` when none can help.
 */
export async function generateAndValidate<Value>(kit: Kit, task: GenerationTask<Value>): Promise<Value> {
  const { run, secrets } = kit
  const kept: { standing: Standing<Value> | null } = { standing: null }
  const { value, summary } = await attempts(kit, task, kept).catch(async (error: unknown) => {
    if (!kept.standing || !(error instanceof PlatformError) || run.signal.aborted) throw error
    run.log.warn('the code goes back to an earlier attempt that was good enough', { error })
    return await backTo(kit, kept.standing, error)
  })
  run.conversation.push({ user: secrets.text(task.query), assistant: secrets.text(summary) })
  return value
}

/** An attempt to go back to. */
interface Standing<Value> {
  commit: string
  summary: string
  again: GoodEnough<Value>['again']
}
interface Accepted<Value> {
  value: Value
  summary: string
}

/** @param kept gets the last attempt that was good enough */
async function attempts<Value>(
  kit: Kit,
  task: GenerationTask<Value>,
  kept: { standing: Standing<Value> | null },
): Promise<Accepted<Value>> {
  const { run, status } = kit
  const values: GeneratorValues = {
    operation: task.operation,
    forbid: task.forbid,
    ...task.conventions,
    selectedIds: task.selected_ids,
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
  let raw = task.query
  let last: Validation<Value> | null = null
  for (let attempt = 1; attempt <= task.max_attempts; attempt++) {
    run.meter.countAttempt()
    await status.say('generating', raw)
    const summary = await runChain(
      kit,
      iacGenerator,
      {
        ...values,
        task: prompt,
        // Later attempts have seen the files in the first query, and have changed some of them since.
        repository: attempt === 1 ? repository : null,
        providerSchema: await readSchemas(kit, { query: prompt, templates: task.conventions.templates }),
      },
      { system, conversation },
    )
    conversation.push({ user: prompt, assistant: summary })
    const commit = await publish(kit)
    await status.say('validating', 'Waiting for infrastructure as code to be validated.')
    last = await task.validate()
    await keepPlan(kit, last)
    if (last.ok) return { value: last.value, summary }
    raw = last.feedback
    if (last.good_enough) kept.standing = { commit, summary, again: last.good_enough.again }
    const findings = await judge(kit, last, attempt < task.max_attempts)
    prompt = last.good_enough ? last.good_enough.writeQuery(raw) : writeRepairQuery(raw, findings)
  }
  throw new ValidationLoopExceeded(last)
}

/** @param error why; thrown when the attempt does not hold any more */
async function backTo<Value>(kit: Kit, standing: Standing<Value>, error: PlatformError): Promise<Accepted<Value>> {
  await kit.run.workspace.restore(standing.commit)
  await publish(kit)
  const validation = await standing.again()
  if (!validation.ok) throw error
  await keepPlan(kit, validation)
  return { value: validation.value, summary: standing.summary }
}

async function keepPlan({ run }: Kit, { text, targets }: Validation<unknown>): Promise<void> {
  if (text !== '') await storePlanText(run.context, run.round, { text, targets }, run.signal)
}

/** What the engine found, for the next attempt. Errors: `EnvironmentFailure`. */
async function judge(kit: Kit, last: Extract<Validation<unknown>, { ok: false }>, goes_on: boolean): Promise<string> {
  const { step, feedback } = last
  if (!step) return ''
  const reason = await whyUnmendable(kit, feedback)
  if (reason !== null) throw new EnvironmentFailure(last, reason)
  return goes_on ? await describeFailure(kit, { step, feedback }) : ''
}

/** Artifacts of one attempt that are uploaded at the same time. */
const UPLOADS = 8

/** Every changed file becomes an artifact, then everything is committed and pushed; the commit. */
async function publish(kit: Kit): Promise<string> {
  const { run, secrets } = kit
  await learnDeclaredSecrets(kit)
  const changes = await run.workspace.pendingChanges()
  await forEachOf(changes, UPLOADS, (change) =>
    storeCodeChange(run.context, run.round, { ...change, content: secrets.text(change.content) }, run.signal),
  )
  return await run.workspace.commitAndPush(run.signal)
}

/** Works through the items, at most `limit` at a time. The first failure stops the rest and is thrown. */
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
