import { z } from '@hono/zod-openapi'
import { BudgetSchema } from '../budget/schema.ts'

const seconds = z.number().describe('Wall clock.')
const count = z.number().int()
const exitCode = count.nullable().describe('Null when the engine ended without one.')

/** The fields that an event gets when it is stored. */
const stored = {
  id: count.describe('Rises with time; `Last-Event-ID` resumes after it.'),
  round: count.describe('Number of the round in its session.'),
  at: z.iso.datetime().describe('When the event was stored.'),
}
const event = <Type extends string, Shape extends z.core.$ZodLooseShape>(type: Type, shape: Shape) =>
  z.object({ ...stored, type: z.literal(type), ...shape })

/** The limit of a channel was reached. */
const cut = event('cut', {
  limit: z.enum(['rows', 'bytes']).describe('The limit of the round that is reached.'),
}).openapi('EventCut', {
  description: 'From here on the round tells only beginnings of attempts and steps, ends, and cancellations.',
})

/** An action of a round: names, paths, counts and outcomes, but no tool arguments or model output. */
export const ActivitySchema = z
  .discriminatedUnion('type', [
    event('attempt.began', {
      attempt: count,
      max_attempts: count,
      task: z.string().describe('The task: `generate`, `drift` or `import`, or `converge`.'),
      reason: z.string().nullable().describe('Why the attempt before was not enough; null for a first.'),
    }).openapi('ActivityAttemptBegan'),
    event('chain.began', { chain: z.string() }).openapi('ActivityChainBegan'),
    event('chain.ended', { chain: z.string(), outcome: z.enum(['ok', 'failed']), seconds }).openapi(
      'ActivityChainEnded',
    ),
    event('tool.called', {
      chain: z.string(),
      tool: z.string(),
      path: z.string().nullable().describe('The file or folder, where the tool takes one.'),
      outcome: z.enum(['ok', 'refused']),
      seconds,
    }).openapi('ActivityToolCalled'),
    event('engine.began', { step: z.string() }).openapi('ActivityEngineBegan'),
    event('engine.ended', { step: z.string(), exit_code: exitCode, seconds }).openapi('ActivityEngineEnded'),
    event('file.written', { path: z.string(), lines_added: count, lines_removed: count }).openapi(
      'ActivityFileWritten',
    ),
    event('rule.found', { rule: z.string(), severity: z.string(), address: z.string().nullable() }).openapi(
      'ActivityRuleFound',
    ),
    event('artifact.uploaded', { kind: z.string(), name: z.string(), bytes: count }).openapi(
      'ActivityArtifactUploaded',
    ),
    event('budget.spent', {
      tokens: count.describe('Of all rounds of the session together.'),
      limit: count,
    }).openapi('ActivityBudgetSpent'),
    event('budget.left', {
      budgets: z.array(BudgetSchema).describe('One entry for each configured limit, after a call of a model.'),
    }).openapi('ActivityBudgetLeft'),
    event('round.cancelling', { by: z.string() }).openapi('ActivityRoundCancelling'),
    cut,
  ])
  .openapi('Activity')

/** The live output of engine jobs. */
export const OutputSchema = z
  .discriminatedUnion('type', [
    event('step.began', { step: z.string(), job_id: z.string() }).openapi('OutputStepBegan'),
    event('lines', {
      step: z.string(),
      job_id: z.string(),
      stream: z.enum(['stdout', 'stderr']),
      text: z.string().describe('Whole lines; a very long one is cut.'),
    }).openapi('OutputLines'),
    event('step.ended', { step: z.string(), job_id: z.string(), exit_code: exitCode, seconds }).openapi(
      'OutputStepEnded',
    ),
    cut,
  ])
  .openapi('Output')

/** A stored event, as the streams of the API send it. */
export type ActivityEvent = z.output<typeof ActivitySchema>
export type OutputEvent = z.output<typeof OutputSchema>

type Unstored<Event> = Event extends unknown ? Omit<Event, keyof typeof stored> : never
export type Activity = Unstored<ActivityEvent>
export type EngineOutput = Unstored<OutputEvent>
export type LimitReached = Unstored<z.output<typeof cut>>
export type RoundEvent = Activity | EngineOutput

/** The two event streams of a session, as named in the column `channel` of `round_events`. */
export type EventChannel = 'activity' | 'output'
