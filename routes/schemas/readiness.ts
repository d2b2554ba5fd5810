import { z } from '@hono/zod-openapi'
import { BLOCKER_CODES, METHODS, READINESS_STATUSES } from '../../src/pull-requests/readiness/findings.ts'

const CHECKS = [{ name: 'plan', state: 'failure' }]
const EXAMPLE = {
  status: 'blocked' as const,
  method: 'squash' as const,
  blockers: [
    { code: 'checks' as const, text: 'Required checks have not passed: plan (failure).', checks: CHECKS },
    { code: 'reviews' as const, text: 'It needs 2 approving reviews and has 1.', checks: [] },
  ],
  unknown: ['The git host did not say whether the commits are signed.'],
}

const readiness = {
  status: z
    .enum(READINESS_STATUSES)
    .describe(
      '`waiting`: only time is missing. `merged`: at the reviewed commit. `unknown`: the git host did not say. ' +
        'Whatever it is, a merge may be asked for: the git host decides.',
    ),
  method: z
    .enum(METHODS)
    .nullable()
    .describe('The method that a merge would take; null when the git host did not say what it allows.'),
  blockers: z
    .array(
      z.object({
        code: z.enum(BLOCKER_CODES).describe('`session`: the platform itself refuses. All others: the git host does.'),
        text: z.string().describe('What is missing, in a sentence.'),
        checks: z
          .array(z.object({ name: z.string(), state: z.string().describe("The host's word, or `missing`.") }))
          .describe('The required checks that have not passed; empty for other obstacles.'),
      }),
    )
    .describe('What stands in the way, as far as it is known.'),
  unknown: z.array(z.string()).describe('What the git host did not say, in sentences.'),
}

const Readiness = z.object(readiness).openapi('Readiness', { example: EXAMPLE })

export const MergeReadiness = z
  .object({
    provider: z.enum(['GITHUB', 'AZURE_DEVOPS', 'GITLAB']),
    url: z.string(),
    number: z.number().int(),
    ...readiness,
    read_at: z.string().openapi({ format: 'date-time' }).describe('When the git host was asked.'),
  })
  .openapi('MergeReadiness', {
    example: {
      provider: 'GITHUB',
      url: 'https://github.com/acme/infrastructure/pull/12',
      number: 12,
      ...EXAMPLE,
      read_at: '2026-02-01T09:30:00.250Z',
    },
  })

/** The envelope of a merge that failed. */
export const MergeError = z
  .object({
    detail: z.string(),
    readiness: Readiness.optional().describe('What stood in the way right after the failure, if the git host said it.'),
  })
  .openapi('MergeError', { description: 'The envelope of errors of a merge.' })
