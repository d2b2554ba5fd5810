import { PlatformError } from '../../../src/base/errors.ts'
import type { EngineResult, IacJobs } from '../../../src/services/iac/contract.ts'
import type { Kit } from '../../kit/kit.ts'
import { runWhenStateIsFree } from '../../kit/state-lock.ts'

/** The result of a command that writes the state. */
export interface StateWrite {
  /** Masked; null on success. */
  error: string | null
  /** True if the engine itself reported the result; false when its response was lost. */
  isCertain: boolean
}

/** Runs a command that writes the state, once it is free. Errors: 504 when the state stays locked; `LeaseLost`. */
export async function writeState<Kind extends 'import' | 'state_rm'>(
  { run, engine, secrets }: Kit,
  kind: Kind,
  body: IacJobs[Kind],
): Promise<StateWrite> {
  const fault: { text: string | null } = { text: null }
  const submit = async (): Promise<EngineResult> => {
    try {
      return await engine.run(kind, body)
    } catch (error) {
      run.signal.throwIfAborted()
      if (!(error instanceof PlatformError)) throw error
      run.log.warn('the outcome of a command that writes the state is not known', {
        kind,
        address: body.address,
        error,
      })
      fault.text = error.message
      return { exit_code: 1, stdout: '', stderr: '' }
    }
  }
  const { exit_code, stderr } = await runWhenStateIsFree(run, submit)
  if (exit_code === 0) return { error: null, isCertain: true }
  const error = secrets.text(fault.text ?? (stderr.trim() || `engine ${kind} failed`))
  return { error, isCertain: fault.text === null }
}
