import * as v from 'valibot'
import { choice, fileName, flag, integer, matching, nonEmpty, text } from '../fields.ts'
import type { Source } from '../source.ts'

const names = ['development', 'staging', 'production'] as const
const spellings = Object.fromEntries(
  names.flatMap((name) => [[name.toUpperCase(), name] as const, [name, name] as const]),
)

/** The only field that is in no section. */
export const environmentSchema = v.object({
  environment: choice<(typeof names)[number]>('development', spellings, names),
})

export const readEnvironment = (source: Source) => source.section('', environmentSchema).values.environment

export const pathsSchema = v.object({
  upload_folder: text('/workspaces', nonEmpty),
  /** Folder of the git directories of clones, used by the worker only; if empty, the worker makes its own. */
  git_folder: text(''),
  session_plan_filename: fileName('session.plan'),
  backend_override_filename: matching(
    'backend_override.tf',
    (value) => /^[A-Za-z0-9._-]{1,128}_override\.tf$/.test(value),
    'must be a file name of 1 to 128 safe characters followed by _override.tf (^[A-Za-z0-9._-]{1,128}_override\\.tf$)',
  ),
})

export function readPaths(source: Source) {
  const { values } = source.section('paths', pathsSchema)
  if (values.git_folder !== '' && `${values.git_folder}/`.startsWith(`${values.upload_folder.replace(/\/+$/, '')}/`))
    source.problem('paths.git_folder must not be inside of paths.upload_folder, which the engine can write')
  return values
}

export const orchestrationSchema = v.object({
  enable_compliance_checker: flag(false),
  block_on_high_impact: flag(false),
  max_drift_reports: integer(3, { min: 0 }),
  max_validation_iteration: integer(8, { min: 0 }),
  max_import_iteration: integer(5, { min: 0 }),
  max_tool_agent_executions: integer(40, { min: 1 }),
  max_session_events_iteration: integer(2160, { min: 0 }),
  drift_group_operations: integer(8, { min: 1 }),
  pull_request_readiness_seconds: integer(10, { min: 0 }),
  /** Path of the operator's file of grades; empty for none. */
  rules_file: text(''),
})

/** Reads the section without `rules`, which `readRulesFile` reads from `rules_file`. */
export const readOrchestration = (source: Source) => source.section('orchestration', orchestrationSchema).values

export const workerSchema = v.object({
  /** Maximum rounds that one worker process runs concurrently; 0: as many as its memory allows. */
  concurrency: integer(0, { min: 0 }),
  /** Maximum restarts of an interrupted round before it fails. */
  max_restarts: integer(3, { min: 0 }),
  pin_key_env: text('PLATFORM_PIN_KEY'),
})

/** 32 random bytes have at least this many characters in any usual encoding; in base64 they have 44. */
const MIN_KEY_LENGTH = 32

export function readWorker(source: Source) {
  const { pin_key_env, ...rest } = source.section('worker', workerSchema).values
  const pinKey = source.variable(pin_key_env)
  if (pinKey !== '' && pinKey.length < MIN_KEY_LENGTH)
    source.problem(
      `worker.pin_key_env: ${pin_key_env} must hold at least ${MIN_KEY_LENGTH} characters, ` +
        'for example 32 random bytes in base64.',
    )
  // Encrypts saved plans in the object store. If empty, they are stored on the worker's disk only.
  return { ...rest, pin_key: pinKey }
}

export const auditSchema = v.object({
  /** Days for which entries are kept; 0 keeps them forever. */
  retention_days: integer(0, { min: 0 }),
})

export const readAudit = (source: Source) => source.section('audit', auditSchema).values
