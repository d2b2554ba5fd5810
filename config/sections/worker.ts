import * as v from 'valibot'
import { integer, text } from '../fields.ts'
import type { Source } from '../source.ts'
import type { AuditConfig, WorkerConfig } from '../types.ts'

export const workerSchema = v.object({
  concurrency: integer(4, { min: 1 }),
  max_restarts: integer(3, { min: 0 }),
  pin_key_env: text('PLATFORM_PIN_KEY'),
})

/** 32 random bytes have at least this many characters in any usual encoding; in base64 they have 44. */
const MIN_KEY_LENGTH = 32

export function readWorker(source: Source): WorkerConfig {
  const { pin_key_env, ...rest } = source.section('worker', workerSchema).values
  const pinKey = source.variable(pin_key_env)
  if (pinKey !== '' && pinKey.length < MIN_KEY_LENGTH)
    source.problem(
      `worker.pin_key_env: ${pin_key_env} must hold at least ${MIN_KEY_LENGTH} characters, ` +
        'for example 32 random bytes in base64.',
    )
  return { ...rest, pin_key: pinKey }
}

export const auditSchema = v.object({ retention_days: integer(0, { min: 0 }) })

export const readAudit = (source: Source): AuditConfig => source.section('audit', auditSchema).values
