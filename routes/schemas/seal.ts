import { z } from '@hono/zod-openapi'
import {
  CHECK_NAMES,
  CHECK_OUTCOMES,
  INVALID_REASONS,
  type SavedPlanStatus,
} from '../../src/saved-plans/plan-status.ts'

const SEALED = '2026-02-01T00:03:09.500000Z'
const VERIFIED = '2026-02-01T09:30:00.250000Z'
const check = (name: (typeof CHECK_NAMES)[number], outcome: (typeof CHECK_OUTCOMES)[number], explanation: string) => ({
  name,
  outcome,
  explanation,
})
const STATE_MOVED = 'The state moved after the plan was made (serial 7 then, 8 now).'
const CHECKS = [
  check('commit', 'holds', 'The session branch is at commit 6dcb09b5b578, from which the plan was made.'),
  check('engine', 'holds', 'The iac service runs OpenTofu 1.10.6, which made the plan.'),
  check('state', 'broken', STATE_MOVED),
  check('reviewed', 'holds', 'Round 1, which sealed the plan, has completed.'),
  check('lock', 'holds', 'Neither the session nor the state is locked.'),
  check('copy', 'holds', 'An encrypted copy of the plan is stored.'),
]
export const SEAL = {
  plan_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  commit: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
  engine: { name: 'OpenTofu', version: '1.10.6' },
  state: { serial: 7, lineage: 'c1b0a9f8-0d2e-4a5b-9a53-7d1c1f0e6b11' },
  sealed_at: SEALED,
  round: 1,
  valid: false,
  reason: 'state_moved' as const,
  explanation: STATE_MOVED,
  has_copy: true,
  targets: ['aws_s3_bucket.build_logs'],
  verified_at: VERIFIED,
  checks: CHECKS,
}

const time = (example: string) => z.string().openapi({ format: 'date-time', example })

const Check = z.object({
  name: z.enum(CHECK_NAMES),
  outcome: z.enum(CHECK_OUTCOMES).describe('`unknown`: it could not be seen, which is no fault.'),
  explanation: z.string(),
})

export const Seal = z
  .object({
    plan_sha256: z.string().describe('SHA-256 of the plan file.'),
    commit: z.string().describe('Head of the session branch when the plan was sealed.'),
    engine: z
      .object({ name: z.string(), version: z.string() })
      .nullable()
      .describe('What made the plan; null when the iac service did not tell.'),
    state: z
      .object({ serial: z.number().int(), lineage: z.string() })
      .nullable()
      .describe('What the plan was made from; null when the plan does not tell.'),
    sealed_at: time(SEALED),
    round: z.number().int().describe('Number of the round that sealed it.'),
    valid: z.boolean().describe('Whether the plan still is what was reviewed, as far as is known; see `verified_at`.'),
    reason: z.enum(INVALID_REASONS).nullable().describe('Why it is not valid.'),
    explanation: z.string().nullable().describe('The reason in a sentence.'),
    has_copy: z.boolean().describe('Whether an encrypted copy is stored.'),
    targets: z.array(z.string()).describe('Addresses that the plan is limited to; empty: none.'),
    verified_at: time(VERIFIED).nullable().describe('Last comparison with the present state.'),
    checks: z.array(Check).describe('What that comparison found; empty when there was none.'),
  })
  .openapi('Seal', { example: SEAL })

export const SealVerification = z
  .object({ seal: Seal, checks: z.array(Check), verified_at: time(VERIFIED) })
  .openapi('SealVerification', { example: { seal: SEAL, checks: CHECKS, verified_at: VERIFIED } })

/** Converts a saved plan to the API's form, which calls it a seal. */
export const toSeal = ({ saved_at, ...status }: SavedPlanStatus): z.input<typeof Seal> => ({
  ...status,
  sealed_at: saved_at,
})
