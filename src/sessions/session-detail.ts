import { z } from '@hono/zod-openapi'
import { CLOUDS, LOCK_GATES, OPERATIONS, REPORT_TYPES, STATE_CHOICES, STATUSES, type Turn } from '../base/vocabulary.ts'
import { BudgetSchema } from '../budget/schema.ts'
import type { Spent } from '../budget/spend.ts'
import { AttemptSchema, costUsd } from '../rounds/attempt-schema.ts'
import type { SavedPlanStatus } from '../saved-plans/plan-status.ts'

export const EXAMPLE_TIME = '2026-01-31T23:59:59.000000Z'

const timestamp = () => z.string().openapi({ format: 'date-time', example: EXAMPLE_TIME })
const status = () => z.enum(STATUSES)
const integer = () => z.number().int()

/** Why a session is locked. */
export const LockSchema = z
  .object({
    since: timestamp()
      .nullable()
      .describe('When it was locked; later reasons do not change it. null where this was not recorded.'),
    reasons: z
      .array(
        z.object({
          gate: z
            .enum(LOCK_GATES)
            .describe('`compliance` or `impact`: the review of a generate round. `person`: an editor.'),
          what: z
            .string()
            .nullable()
            .describe('The findings or the impact, or what the person said; null for nothing.'),
          by: z.string().describe('E-mail or name of who locked it, or `platform`.'),
          round: integer().nullable().describe('Number of the round that was reviewed; null for a person.'),
        }),
      )
      .describe('Those of the newest review that locked it, and those of persons.'),
  })
  .openapi('Lock')

/** An entry of the session lists. Timestamps here and below look like `2026-03-01T14:25:30.123456Z`, in UTC. */
export const SessionSummarySchema = z.object({
  uuid: z.string().openapi({ format: 'uuid' }),
  username: z.string().nullable().describe("The owner's e-mail, else `user-<id>`."),
  operation: z.enum(OPERATIONS).describe('The operation of the first round.'),
  provider: z.enum(CLOUDS),
  first_query: z.string().nullable().describe('The request that opened the session.'),
  workspace: z.object({
    uri: z.string(),
    branch: z.string().describe('Where the code of the session is pushed.'),
    root_path: z.string().nullable().describe('The engine root; null: the root of the repository.'),
  }),
  current_status: status().describe('The most recent one.'),
  in_flight: z.boolean().describe('True while a round is queued or runs.'),
  is_blocked: z.boolean().describe('True while apply and merge are locked.'),
  lock: LockSchema.nullable().describe('Why and since when; null while it is not locked.'),
  created_at: timestamp(),
  updated_at: timestamp(),
})

/** `id` is that of the row in `reports`, `engine_plans` and so on. */
const artifact = {
  id: integer(),
  url: z.string().openapi({ format: 'uri', description: 'Presigned: GET it without the bearer token.' }),
  content_type: z.string().nullable(),
  file_size_bytes: integer().nullable(),
  created_at: timestamp(),
}

/** The usage of a finished round, as the worker measured it, in wall-clock seconds. */
const Usage = z.object({
  engine_s: z.number().describe('Seconds during which an engine job was waited for.'),
  model_s: z.number().describe('Seconds during which a model was waited for and no engine job.'),
  input_tokens: integer(),
  cached_tokens: integer(),
  output_tokens: integer(),
  cost_usd: costUsd(),
  validation_attempts: integer(),
})

export const RoundSchema = z
  .object({
    id: integer(),
    number: integer().describe('Counted from 1 in each session.'),
    query: z.string(),
    preview: z.boolean().describe('True for a drift or import round that only looked.'),
    statuses: z
      .array(z.object({ status: status(), message: z.string().nullable(), created_at: timestamp() }))
      .describe('Oldest first, like every list of a round.'),
    reports: z.array(z.object({ ...artifact, type: z.enum(REPORT_TYPES) })),
    compliance_checks: z
      .array(z.object({ ...artifact, passed: z.boolean() }))
      .describe('Empty when the round was not audited.'),
    plans: z.array(
      z.object({
        ...artifact,
        targets: z.array(z.string()),
        document_url: z.string().nullable().openapi({
          format: 'uri',
          description: 'The plan as data, a `PlanDocument`; presigned. Null for drift and for plans that failed.',
        }),
      }),
    ),
    code_changes: z
      .array(z.object({ ...artifact, file_name: z.string().describe('From the engine root.') }))
      .describe('Each changed file once, compared with the code before the round.'),
    previews: z
      .array(
        z.object({
          ...artifact,
          counts: z.object({ managed: integer(), unmanaged: integer(), left_out: integer() }),
        }),
      )
      .describe('The list of an import preview, one JSON document; empty for every other round.'),
    outputs: z
      .array(
        z.object({
          ...artifact,
          step: z.string().describe('`init`, `validate`, `plan`, `apply` or `import`.'),
          exit_code: integer().nullable(),
        }),
      )
      .describe('The masked output of the engine jobs of the round.'),
    usage: Usage.nullable().describe('null until the round ended.'),
    budgets: z
      .array(BudgetSchema)
      .describe(
        "What is left of the round's own model budget, one entry for each limit of it; empty without one. It counts the " +
          'calls of a round that runs too. The stream of activity tells it live, with the budgets of the day.',
      ),
    pull_requests: z.array(
      z.object({ provider: z.enum(['GITHUB', 'AZURE_DEVOPS', 'GITLAB']), url: z.string(), number: integer() }),
    ),
    state_question: z
      .object({
        mode: z.enum(OPERATIONS).describe('The request to send again, with `query` as `q`.'),
        is_partial: z.boolean(),
        backend: z.string().describe("Type of the repository's own backend."),
        serial: integer().nullable().describe('Of its state; null when that could not be read.'),
        resources: integer().nullable(),
        choices: z.array(z.enum(STATE_CHOICES)).describe('Values of `state` with which to ask again.'),
      })
      .nullable()
      .describe('Set when the round stopped because the repository keeps its state elsewhere.'),
    attempts: z.array(AttemptSchema).describe('The result of each attempt at the code. An apply round has none.'),
    created_at: timestamp(),
  })
  .openapi('Round')

/** The last change of the lock, from the audit. */
export const LockChangeSchema = z
  .object({
    locked: z.boolean(),
    by: z.string().describe('E-mail or name of who did it, or `platform`.'),
    at: timestamp(),
    round: integer().nullable().describe('Number of the round whose review by the platform did it; null for a person.'),
    reason: z
      .string()
      .nullable()
      .describe('What the person said, or by which gates the review locked it and for what; null for none.'),
  })
  .openapi('LockChange')
export type LockChange = z.output<typeof LockChangeSchema>

/** A round as it is stored: what its model calls took, which is compared with the budget when it is shown. */
export type RoundDetail = Omit<z.output<typeof RoundSchema>, 'budgets'> & { spent: Spent }
export type ArtifactEntry = Omit<RoundDetail['reports'][number], 'type'>
export type PullRequest = RoundDetail['pull_requests'][number]
export type RoundUsage = NonNullable<RoundDetail['usage']>

export type SessionSummary = z.output<typeof SessionSummarySchema> & {
  /** US dollars of the finished rounds, on request only. Null when none has finished or a cost is unknown. */
  cost_usd?: number | null
}

/** All lists are sorted oldest first. `history` is null unless requested. */
export type SessionAggregate = SessionSummary & {
  scope_id: string
  rounds: RoundDetail[]
  history: Turn[] | null
  /** Null while the lock has never changed, and once the audit no longer has it. */
  last_lock_change: LockChange | null
  /** The last saved plan; null for none. The API calls it `seal`. */
  saved_plan: SavedPlanStatus | null
}
