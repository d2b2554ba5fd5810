import * as v from 'valibot'

/** What the core reads of the contract's answers; other implementations may add keys. */
export const SubmittedSchema = v.object({ job_id: v.pipe(v.string(), v.uuid()) })

const ResultSchema = v.object({ exit_code: v.pipe(v.number(), v.integer()), stdout: v.string(), stderr: v.string() })
const ProblemSchema = v.object({
  status: v.optional(v.pipe(v.number(), v.integer())),
  title: v.optional(v.string()),
  detail: v.nullish(v.string()),
})
export const JobSchema = v.variant('status', [
  v.object({ status: v.picklist(['queued', 'running']) }),
  v.object({ status: v.literal('succeeded'), result: ResultSchema }),
  v.object({ status: v.literal('failed'), error: ProblemSchema }),
])
export type JobAnswer = v.InferOutput<typeof JobSchema>

export const EngineSchema = v.object({
  name: v.pipe(v.string(), v.minLength(1)),
  version: v.pipe(v.string(), v.minLength(1)),
})
