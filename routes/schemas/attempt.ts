import { z } from '@hono/zod-openapi'
import { OPERATIONS } from '../../src/base/vocabulary.ts'
import { ATTEMPT_OUTCOMES, ATTEMPT_STEPS, STEP_OUTCOMES } from '../../src/rounds/attempts.ts'

const timestamp = () => z.string().openapi({ format: 'date-time' })
const tokens = () =>
  z
    .number()
    .int()
    .nullable()
    .describe('Of the models that were asked meanwhile; null while it runs or when it was lost.')

export const costUsd = () =>
  z.number().nullable().describe('US dollars for these tokens; null when the price of a model is not known.')

const Step = z.object({
  name: z.enum(ATTEMPT_STEPS),
  outcome: z.enum(STEP_OUTCOMES).describe('Of its last run; `skipped`: not needed, or not reached.'),
  seconds: z.number().describe('Over all runs.'),
  runs: z.number().int(),
})

const Diagnostic = z.object({
  severity: z.enum(['error', 'warning']),
  step: z.enum(ATTEMPT_STEPS).nullable().describe('The step that found it; null when none did.'),
  summary: z.string(),
  detail: z.string().describe('May have several lines; empty when there is none.'),
  file: z.string().nullable().describe('From the engine root.'),
  line: z.number().int().nullable(),
  snippet: z.string().describe('Numbered lines of code; empty when none are quoted.'),
  address: z.string().nullable().describe('Of the resource that is concerned.'),
  rule: z.string().nullable().describe('Id of the rule that found it.'),
})

export const Attempt = z
  .object({
    number: z.number().int().describe('Counted from 1 over all loops and restarts of the round.'),
    restart: z.number().int().describe('Number of restarts of the round before; 0 at first.'),
    task: z.enum(OPERATIONS).describe('The loop that it belongs to.'),
    started_at: timestamp(),
    ended_at: timestamp().nullable().describe('null while it runs.'),
    outcome: z
      .enum(ATTEMPT_OUTCOMES)
      .nullable()
      .describe(
        'null while it runs. `accepted`: the round went on with its code. `refused`: the engine or a check did not ' +
          'accept its code. `failed`: it could not be carried to its end. `cancelled`: somebody ended the round. ' +
          '`interrupted`: its worker stopped or died.',
      ),
    steps: z.array(Step).describe('In their order; empty until it has ended.'),
    diagnostics: z.array(Diagnostic).describe('The first ones that were found, masked and shortened.'),
    diagnostics_total: z.number().int().describe('Number of diagnostics found.'),
    commit: z.string().nullable().describe('Holds its changes; null when it changed nothing.'),
    input_tokens: tokens(),
    cached_tokens: tokens(),
    output_tokens: tokens(),
    cost_usd: costUsd(),
    next_reason: z.string().nullable().describe('Why the next attempt began; null for the last one.'),
  })
  .openapi('Attempt')

const step = (name: z.infer<typeof Step>['name'], seconds: number, outcome: 'ok' | 'failed' = 'ok') => ({
  name,
  outcome,
  seconds,
  runs: 1,
})
const skipped = (name: z.infer<typeof Step>['name']) => ({ name, outcome: 'skipped' as const, seconds: 0, runs: 0 })

export const attemptExample: z.infer<typeof Attempt> = {
  number: 1,
  restart: 0,
  task: 'generate',
  started_at: '2026-02-01T00:00:04.100000Z',
  ended_at: '2026-02-01T00:00:52.310000Z',
  outcome: 'refused',
  steps: [
    step('generate', 31.204),
    step('init', 9.87),
    step('validate', 1.412, 'failed'),
    skipped('plan'),
    skipped('show'),
    skipped('check'),
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
