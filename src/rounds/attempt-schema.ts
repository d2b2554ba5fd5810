import { z } from '@hono/zod-openapi'
import { ATTEMPT_OUTCOMES, ATTEMPT_STEPS, OPERATIONS, STEP_OUTCOMES } from '../base/vocabulary.ts'

const timestamp = () => z.string().openapi({ format: 'date-time' })
const tokens = () =>
  z
    .number()
    .int()
    .nullable()
    .describe('Of the models that were asked meanwhile; null while it runs or when it was lost.')

export const costUsd = () =>
  z.number().nullable().describe('US dollars for these tokens; null when the price of a model is not known.')

/** One step with all of its runs in an attempt. */
const Step = z.object({
  name: z.enum(ATTEMPT_STEPS),
  outcome: z.enum(STEP_OUTCOMES).describe('Of its last run; `skipped`: not needed, or not reached.'),
  seconds: z.number().describe('Over all runs.'),
  runs: z.number().int(),
})

/** A finding of the engine or of a check, with masked and shortened texts. */
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

/** One attempt of a generation loop, as the API returns it. */
export const AttemptSchema = z
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
        'null while it runs. `accepted`: the round went on with its code, and no other attempt followed. ' +
          '`continued`: its code was accepted, and another attempt followed. `refused`: the engine or a check did not ' +
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
