import { z } from '@hono/zod-openapi'
import {
  EXAMPLE_TIME,
  LockChangeSchema,
  type RoundDetail,
  RoundSchema,
  SessionSummarySchema,
} from '../../src/sessions/session-detail.ts'
import { uuid } from '../validation/fields.ts'
import { examplePage, pageOf } from './page.ts'
import { SEAL, Seal } from './seal.ts'

const UUID = '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11'
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
  is_blocked: true,
  lock: {
    since: '2026-02-01T00:03:09.750000Z',
    reasons: [
      {
        gate: 'compliance',
        what: 'aws.s3.public-access at aws_s3_bucket.build_logs: The bucket can be read by everybody.',
        by: 'platform',
        round: 1,
      },
    ],
  },
  created_at: EXAMPLE_TIME,
  updated_at: '2026-02-01T00:03:10.250000Z',
} as const

export const SessionId = z
  .object({ session_id: z.string().openapi({ format: 'uuid', example: UUID }) })
  .openapi('SessionId', { example: { session_id: UUID } })

/** The body of routes that act on a session as a whole. */
export const SessionReference = z
  .object({ session_id: uuid() })
  .openapi('SessionReference', { example: { session_id: UUID } })

const SessionSummary = SessionSummarySchema.openapi('SessionSummary', { example: SUMMARY })

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

const artifactExample = (key: string, contentType: string) => ({
  id: 5,
  url: `https://objects.example.com/platform-artifacts/sessions/${UUID}/rounds/31/${key}?X-Amz-Signature=1a2b`,
  content_type: contentType,
  file_size_bytes: 2048,
  created_at: '2026-02-01T00:02:40.500000Z',
})

const attemptExample: RoundDetail['attempts'][number] = {
  number: 1,
  restart: 0,
  task: 'generate',
  started_at: '2026-02-01T00:00:04.100000Z',
  ended_at: '2026-02-01T00:00:52.310000Z',
  outcome: 'refused',
  steps: [
    { name: 'generate', outcome: 'ok', seconds: 31.204, runs: 1 },
    { name: 'init', outcome: 'ok', seconds: 9.87, runs: 1 },
    { name: 'validate', outcome: 'failed', seconds: 1.412, runs: 1 },
    { name: 'plan', outcome: 'skipped', seconds: 0, runs: 0 },
    { name: 'show', outcome: 'skipped', seconds: 0, runs: 0 },
    { name: 'check', outcome: 'skipped', seconds: 0, runs: 0 },
  ],
  diagnostics: [
    {
      severity: 'error',
      step: 'validate',
      summary: 'Unsupported argument',
      detail: 'An argument named "versionning" is not expected here.',
      file: 'logs.tf',
      line: 3,
      snippet: '     2:   bucket      = "build-logs"\n>    3:   versionning = true\n     4: }',
      address: null,
      rule: null,
    },
  ],
  diagnostics_total: 1,
  commit: '6f1b0c9d2e3a4f5061728394a5b6c7d8e9f00112',
  input_tokens: 21_480,
  cached_tokens: 12_060,
  output_tokens: 2_410,
  cost_usd: 0.042_1,
  next_reason: 'The engine does not accept the code: Unsupported argument (logs.tf:3).',
}

export const SessionAggregate = SessionSummary.extend({
  scope_id: z.string(),
  rounds: z.array(RoundSchema).describe('Oldest first.'),
  history: z
    .array(z.object({ user: z.string(), assistant: z.string() }))
    .nullable()
    .describe('The conversation, with `include_history=true`; else null.'),
  last_lock_change: LockChangeSchema.nullable().describe(
    'The last change of the lock; null while there was none, and once the audit no longer has it.',
  ),
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
          { status: 'started', message: null, created_at: EXAMPLE_TIME },
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
        budgets: [{ budget: 'round', unit: 'tokens', limit: 400_000, used: 53_330, left: 346_670 }],
        pull_requests: [{ provider: 'GITHUB', url: 'https://github.com/acme/infrastructure/pull/12', number: 12 }],
        state_question: null,
        attempts: [attemptExample],
        created_at: EXAMPLE_TIME,
      },
    ],
    history: null,
    last_lock_change: {
      locked: false,
      by: 'grace@example.org',
      at: '2026-02-01T00:10:00.500000Z',
      round: null,
      reason: 'Checked with the data team: the bucket is empty.',
    },
    seal: SEAL,
  },
})
