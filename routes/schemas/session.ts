import { z } from '@hono/zod-openapi'
import { CLOUDS, OPERATIONS, REPORT_TYPES, STATUSES } from '../../src/base/vocabulary.ts'
import { uuid } from '../validation/fields.ts'
import { Attempt, attemptExample, costUsd } from './attempt.ts'
import { examplePage, pageOf } from './page.ts'
import { SEAL, Seal } from './seal.ts'

const UUID = '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11'
const CREATED = '2026-01-31T23:59:59.000000Z'
const SUMMARY = {
  uuid: UUID,
  username: 'ada@example.org',
  operation: 'generate',
  provider: 'aws',
  first_query: 'Add a private bucket for build logs.',
  workspace: {
    uri: 'https://github.com/acme/infrastructure.git',
    branch: 'Platform/2026-01-31_235959-1a2b',
    root_path: 'live/network',
  },
  current_status: 'completed',
  in_flight: false,
  is_blocked: false,
  created_at: CREATED,
  updated_at: '2026-02-01T00:03:10.250000Z',
} as const

const timestamp = () => z.string().openapi({ format: 'date-time', example: CREATED })
const status = () => z.enum(STATUSES)
const integer = () => z.number().int()

export const SessionId = z
  .object({ session_id: z.string().openapi({ format: 'uuid', example: UUID }) })
  .openapi('SessionId', { example: { session_id: UUID } })

/** The body of routes that act on a session as a whole. */
export const SessionReference = z
  .object({ session_id: uuid() })
  .openapi('SessionReference', { example: { session_id: UUID } })

const SessionSummary = z
  .object({
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
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .openapi('SessionSummary', { example: SUMMARY })

const ListedSession = SessionSummary.extend({
  cost_usd: z
    .number()
    .nullable()
    .optional()
    .describe(
      'US dollars of all finished rounds, with `include_cost=true`; else absent. ' +
        'null when none has finished, or when the cost of one is not known.',
    ),
}).openapi('ListedSession', { example: SUMMARY })

export const SessionPage = pageOf(ListedSession).openapi('SessionPage', { example: examplePage(SUMMARY) })

const artifact = {
  id: integer(),
  url: z.string().openapi({ format: 'uri', description: 'Presigned: GET it without the bearer token.' }),
  content_type: z.string().nullable(),
  file_size_bytes: integer().nullable(),
  created_at: timestamp(),
}

const artifactExample = (key: string, contentType: string) => ({
  id: 5,
  url: `https://objects.example.com/platform-artifacts/sessions/${UUID}/rounds/31/${key}?X-Amz-Signature=1a2b`,
  content_type: contentType,
  file_size_bytes: 2048,
  created_at: '2026-02-01T00:02:40.500000Z',
})

const Usage = z.object({
  engine_s: z.number().describe('Seconds during which an engine job was waited for.'),
  model_s: z.number().describe('Seconds during which a model was waited for and no engine job.'),
  input_tokens: integer(),
  cached_tokens: integer(),
  output_tokens: integer(),
  cost_usd: costUsd(),
  validation_attempts: integer(),
})

const Round = z
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
    code_changes: z.array(z.object({ ...artifact, file_name: z.string().describe('From the engine root.') })),
    previews: z
      .array(
        z.object({
          ...artifact,
          counts: z.object({
            managed: integer(),
            unmanaged: integer(),
            left_out: integer(),
          }),
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
    pull_requests: z.array(
      z.object({ provider: z.enum(['GITHUB', 'AZURE_DEVOPS', 'GITLAB']), url: z.string(), number: integer() }),
    ),
    attempts: z.array(Attempt).describe('The result of each attempt at the code. An apply round has none.'),
    created_at: timestamp(),
  })
  .openapi('Round')

export const SessionAggregate = SessionSummary.extend({
  scope_id: z.string(),
  rounds: z.array(Round).describe('Oldest first.'),
  history: z
    .array(z.object({ user: z.string(), assistant: z.string() }))
    .nullable()
    .describe('The conversation, with `include_history=true`; else null.'),
  seal: Seal.nullable().describe('The plan that was sealed last; null when none ever was.'),
}).openapi('SessionAggregate', {
  example: {
    ...SUMMARY,
    scope_id: 'acme-production',
    rounds: [
      {
        id: 31,
        number: 1,
        query: SUMMARY.first_query,
        preview: false,
        statuses: [
          { status: 'started', message: null, created_at: CREATED },
          { status: 'completed', message: 'GENERATE', created_at: '2026-02-01T00:03:10.250000Z' },
        ],
        reports: [{ ...artifactExample('reports/generate-1f2e3d4c.json', 'application/json'), type: 'generate' }],
        compliance_checks: [{ ...artifactExample('compliance/check-5a6b7c8d.json', 'application/json'), passed: true }],
        plans: [
          {
            ...artifactExample('plans/0a1b2c3d.txt', 'text/plain'),
            targets: ['aws_s3_bucket.build_logs'],
            document_url: artifactExample('plans/0a1b2c3d.json', 'application/json').url,
          },
        ],
        code_changes: [{ ...artifactExample('changes/9f8e7d6c-logs.tf', 'text/plain'), file_name: 'logs.tf' }],
        previews: [],
        outputs: [{ ...artifactExample('outputs/plan-7c6b5a4d.txt', 'text/plain'), step: 'plan', exit_code: 0 }],
        usage: {
          engine_s: 21.4,
          model_s: 63.9,
          input_tokens: 48_210,
          cached_tokens: 30_100,
          output_tokens: 5_120,
          cost_usd: 0.093_44,
          validation_attempts: 1,
        },
        pull_requests: [{ provider: 'GITHUB', url: 'https://github.com/acme/infrastructure/pull/12', number: 12 }],
        attempts: [attemptExample],
        created_at: CREATED,
      },
    ],
    history: null,
    seal: SEAL,
  },
})
