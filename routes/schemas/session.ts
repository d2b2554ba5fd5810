import { z } from '@hono/zod-openapi'
import { CLOUDS, OPERATIONS, REPORT_TYPES, STATUSES } from '../../src/sessions/types.ts'
import { uuid } from '../validation/fields.ts'

const timestamp = () => z.string().openapi({ format: 'date-time', example: '2026-01-31T23:59:59.000000Z' })
const status = () => z.enum(STATUSES)

export const SessionId = z
  .object({ session_id: z.string().openapi({ format: 'uuid', example: '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11' }) })
  .openapi('SessionId')

/** Body of the routes that act on a session as a whole. */
export const SessionReference = z
  .object({ session_id: uuid() })
  .openapi('SessionReference', { example: { session_id: '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11' } })

export const SessionSummary = z
  .object({
    uuid: z.string().openapi({ format: 'uuid' }),
    username: z.string().nullable().openapi({ description: "The owner's e-mail, else `user-<id>`." }),
    operation: z.enum(OPERATIONS).openapi({ description: 'What the first round of the session was.' }),
    provider: z.enum(CLOUDS),
    first_query: z.string().nullable(),
    workspace: z.object({ uri: z.string(), branch: z.string(), root_path: z.string().nullable() }),
    current_status: status(),
    in_flight: z.boolean().openapi({ description: 'True while a round is queued or runs.' }),
    is_blocked: z.boolean().openapi({ description: 'True while apply and merge are locked.' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .openapi('SessionSummary')

export const SessionPage = z
  .object({
    items: z.array(SessionSummary),
    total: z.number().int(),
    page: z.number().int(),
    page_size: z.number().int(),
    total_pages: z.number().int().openapi({ description: '0 when nothing matches.' }),
  })
  .openapi('SessionPage')

const artifact = {
  id: z.number().int(),
  url: z.string().openapi({ format: 'uri', description: 'Presigned: GET it without the bearer token.' }),
  content_type: z.string().nullable(),
  file_size_bytes: z.number().int().nullable(),
  created_at: timestamp(),
}

const Usage = z.object({
  engine_s: z.number().openapi({ description: 'Seconds during which an engine job was waited for.' }),
  model_s: z.number().openapi({ description: 'Seconds during which a model was waited for and no engine job.' }),
  input_tokens: z.number().int(),
  cached_tokens: z.number().int(),
  output_tokens: z.number().int(),
  validation_attempts: z.number().int(),
})

const Round = z
  .object({
    id: z.number().int(),
    number: z.number().int(),
    query: z.string(),
    statuses: z.array(z.object({ status: status(), message: z.string().nullable(), created_at: timestamp() })),
    reports: z.array(z.object({ ...artifact, type: z.enum(REPORT_TYPES) })),
    compliance_checks: z.array(z.object({ ...artifact, passed: z.boolean() })),
    plans: z.array(z.object({ ...artifact, targets: z.array(z.string()) })),
    code_changes: z.array(z.object({ ...artifact, file_name: z.string() })),
    usage: Usage.nullable().openapi({ description: 'null until the round ended.' }),
    pull_requests: z.array(z.object({ provider: z.enum(['GITHUB', 'AZURE_DEVOPS', 'GITLAB']), url: z.string(), number: z.number().int() })),
    created_at: timestamp(),
  })
  .openapi('Round')

export const SessionAggregate = SessionSummary.extend({
  scope_id: z.string(),
  rounds: z.array(Round).openapi({ description: 'Oldest first.' }),
  history: z
    .array(z.object({ user: z.string(), assistant: z.string() }))
    .nullable()
    .openapi({ description: 'The conversation, with `include_history=true`; else null.' }),
}).openapi('SessionAggregate')
