import { gatewayTimeout } from '../../src/base/errors.ts'
import { delay } from '../../src/base/http.ts'
import type { EngineResult } from '../../src/services/iac/contract.ts'
import type { Run } from './run.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000
const LIMIT_S = 600

/**
 * Repeats a command while another round holds the state lock.
 * @throws 504 after ten minutes, or after `services.iac.job_timeout` when that is shorter; those of the command
 */
export async function runWhenStateIsFree(run: Run, command: () => Promise<EngineResult>): Promise<EngineResult> {
  const limitS = Math.min(LIMIT_S, run.context.config.services.iac.job_timeout)
  const end = performance.now() + limitS * 1000
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const result = await command()
    if (!isLockedByAnother(result)) return result
    if (performance.now() + pause > end)
      throw gatewayTimeout(`The engine state stayed locked by another run for ${limitS}s.`)
    run.log.info('the engine state is locked by another run', { pause_ms: pause })
    await delay(pause, run.signal)
  }
}

/** Messages about a held state lock. After any other message waiting does not help. */
const LOCK_HELD =
  /^[│\s]*Lock Info:|PreconditionFailed|ConditionalCheckFailed|ConditionalRequestConflict|already locked/m

const isLockedByAnother = ({ exit_code, stderr }: EngineResult) =>
  exit_code !== 0 && /^[│\s]*Error: Error acquiring the state lock/m.test(stderr) && LOCK_HELD.test(stderr)
