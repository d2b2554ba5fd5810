import { z } from '@hono/zod-openapi'
import { MOST_COUNTED } from '../../src/access/audit/list.ts'
import { AUDIT_ACTIONS } from '../../src/access/audit/record.ts'
import { examplePage, pageOf } from './page.ts'

const RECORD = {
  id: 4711,
  at: '2026-01-31T23:59:59.123456Z',
  action: 'apply_accepted',
  actor: 'ada@example.org',
  user_id: 7,
  subject: '248289761001',
  session_id: '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11',
  address: '203.0.113.7',
  detail: { mode: 'apply', round: 2, is_partial: false, repository: 'https://github.com/acme/infrastructure.git' },
} as const

export const AuditRecord = z
  .object({
    id: z.number().int(),
    at: z.string().openapi({ format: 'date-time' }),
    action: z.enum(AUDIT_ACTIONS),
    actor: z.string().describe('E-mail or name at that time; `platform` for what a run did.'),
    user_id: z.number().int().nullable().describe('Who did it, or whose round did it.'),
    subject: z.string().nullable().describe('Subject of the token of that user; null: no user, or an older entry.'),
    session_id: z.string().nullable().openapi({ format: 'uuid' }),
    address: z
      .string()
      .nullable()
      .describe(
        'Where the request came from; behind a trusted proxy, what that proxy says. null: not known, or no request.',
      ),
    detail: z.record(z.string(), z.any()).describe('By action; never a text of a request.'),
  })
  .openapi('AuditRecord', { example: RECORD })

export const SignInRefusals = z
  .object({
    from: z.string().openapi({ format: 'date-time', description: 'Full hours are counted.' }),
    until: z.string().openapi({ format: 'date-time' }),
    total: z.number().int(),
    reasons: z.array(z.object({ reason: z.string(), refusals: z.number().int() })),
    addresses: z
      .array(z.object({ address_prefix: z.string(), refusals: z.number().int() }))
      .describe('By the network of the caller, at most 20; `other`: those that were not told apart.'),
  })
  .openapi('SignInRefusals', { description: 'Requests that were answered with 401, counted and not listed.' })

export const AuditPage = pageOf(AuditRecord)
  .extend({
    total: z.number().int().describe(`At most ${MOST_COUNTED}.`),
    total_is_exact: z.boolean().describe('false: more match than `total` says; older ones are read with `before`.'),
    sign_in_refusals: SignInRefusals,
  })
  .openapi('AuditPage', {
    example: {
      ...examplePage(RECORD),
      total_is_exact: true,
      sign_in_refusals: {
        from: '2026-01-30T23:00:00.000Z',
        until: '2026-01-31T23:59:59.999Z',
        total: 12,
        reasons: [{ reason: 'token has expired', refusals: 12 }],
        addresses: [{ address_prefix: '203.0.113.0/24', refusals: 12 }],
      },
    },
  })
