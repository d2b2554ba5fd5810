import { taskCompleteTool } from '../../src/agent/sentinels/task-complete.ts'
import { storeCodeChange, storePlanText } from '../../src/artifacts/store.ts'
import { PlatformError } from '../../src/errors.ts'
import { iacGeneratorLayout } from '../../src/prompts/layouts/iac-generator.ts'
import { earlierTurns, feedbackQuery } from '../../src/prompts/queries.ts'
import type { Operation, Turn } from '../../src/sessions/types.ts'
import type { Conventions } from './compose-prompts.ts'
import { forEachOf } from './for-each-of.ts'
import { type Kit, runChain } from './kit.ts'
import { learnDeclaredSecrets } from './learn-declared-secrets.ts'
import { promptBodies } from './prompt-bodies.ts'
import { editing } from './tools.ts'

/** What a validator says about one attempt. */
export type Validation<Value> = {
  /** Text of the plan, masked; stored when it is not empty, also of a failed plan. */
  text: string
  targets: string[]
} & ({ ok: true; value: Value } | { ok: false; feedback: string; value?: Value })

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
  constructor(last: Validation<unknown> | null) {
    super('ValidationLoopExceededError', 422, 'Validation loop exceeded.')
    this.last = last
  }
}

/**
 * Lets the generator write until the validator is content; each attempt is committed and pushed before
 * it is validated. The task's turn joins the session's conversation.
 * Errors: `ValidationLoopExceeded` when the attempts are used up.
 */
export async function generateAndValidate<Value>(kit: Kit, task: GenerationTask<Value>): Promise<Value> {
  const { run, status, secrets } = kit
  const system = await generatorSystem(kit, task)
  const conversation: Turn[] = earlierTurns(run.conversation)
  let prompt = task.prompt
  let raw = task.query
  let last: Validation<Value> | null = null
  for (let attempt = 1; attempt <= task.max_attempts; attempt++) {
    run.meter.attempt()
    await status.say('generating', raw)
    const summary = await generate(kit, system, prompt, conversation)
    conversation.push({ user: prompt, assistant: summary })
    await publish(kit)
    await status.say('validating', 'Waiting for infrastructure as code to be validated.')
    last = await task.validate()
    if (last.text !== '') await storePlanText(run.context, run.round, { text: last.text, targets: last.targets }, run.signal)
    if (last.ok) {
      run.conversation.push({ user: secrets.text(task.query), assistant: secrets.text(summary) })
      return last.value
    }
    raw = last.feedback
    prompt = feedbackQuery(raw)
  }
  throw new ValidationLoopExceeded(last)
}

async function generate(kit: Kit, system: string, query: string, conversation: readonly Turn[]): Promise<string> {
  const { summary } = await runChain(kit, {
    chain: 'IAC_GENERATOR',
    role: 'main',
    system,
    query,
    conversation,
    tools: editing(kit),
    sentinel: taskCompleteTool(),
  })
  return summary
}

async function generatorSystem({ run }: Kit, task: GenerationTask<unknown>): Promise<string> {
  const { provider } = run.round.session
  const [engine, resource_creation, networking, permissions] = await promptBodies(
    run,
    'general-guidelines-engine',
    `${provider}-guidelines-resource_creation`,
    `${provider}-guidelines-networking`,
    `${provider}-guidelines-permissions`,
  )
  const forbidden_actions = task.forbid ? await run.context.prompts.body(`${provider}-guidelines-forbidden_actions`, run.signal) : null
  const { operation, conventions, selected_ids } = task
  return iacGeneratorLayout({
    engine,
    resource_creation,
    networking,
    permissions,
    forbidden_actions,
    operation,
    selected_ids,
    ...conventions,
  })
}

/** Artifacts of one attempt that are uploaded at the same time. */
const UPLOADS = 8

/** Every changed file becomes an artifact, then everything is committed and pushed. */
async function publish(kit: Kit): Promise<void> {
  const { run, secrets } = kit
  await learnDeclaredSecrets(kit)
  const changes = await run.workspace.pendingChanges()
  await forEachOf(changes, UPLOADS, (change) =>
    storeCodeChange(run.context, run.round, { ...change, content: secrets.text(change.content) }, run.signal),
  )
  await run.workspace.commitAndPush(run.signal)
}
