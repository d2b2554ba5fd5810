import type { SecretRegister } from '../../src/plan/sensitive.ts'
import type { IacJobKind } from '../../src/services/iac/contract.ts'
import { writeStateKeys } from '../workspace/backend-override.ts'
import type { Run } from './run.ts'

/** Jobs whose engine command opens the state. */
const OPENS_STATE: readonly string[] = [
  'init',
  'plan',
  'apply',
  'import',
  'state_resource_ids',
  'state_summary',
  'state_rm',
  'schema',
]

/**
 * Creates a function to call before each job. It renews the temporary keys of the state store when they would expire
 * during the job, because an engine reads its keys only at its start. The function throws the errors of
 * `writeStateKeys`.
 * @param secrets gets every key, for masking
 */
export function createKeyRenewal({ context, round, workspace }: Run, secrets: SecretRegister) {
  const jobMs = context.config.services.iac.job_timeout * 1000
  let expires = 0
  return async (kind: IacJobKind | 'schema'): Promise<void> => {
    if (!OPENS_STATE.includes(kind) || context.now().getTime() + jobMs <= expires) return
    const keys = await writeStateKeys(context, round.session, workspace.iacRoot)
    if (keys === null) return
    expires = keys.expires.getTime()
    secrets.add([keys.secret_key, keys.session_token])
  }
}
