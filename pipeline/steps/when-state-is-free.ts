import { gatewayTimeout } from '../../src/base/errors.ts'
import { delay } from '../../src/base/http.ts'
import type { EngineResult } from '../../src/services/iac/types.ts'
import type { Run } from '../run.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000
const LIMIT_S = 600

/**
 * Repeats an engine command for as long as another round holds the lock of the state: that is no
 * fault of the code, which a model could only make worse.
 * Errors: 504 after ten minutes, or after `services.iac.job_timeout` when that is shorter.
 */
export async function whenStateIsFree(run: Run, command: () => Promise<EngineResult>): Promise<EngineResult> {
  const limit_s = Math.min(LIMIT_S, run.context.config.services.iac.job_timeout)
  const end = performance.now() + limit_s * 1000
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const result = await command()
    if (!heldByAnother(result)) return result
    if (performance.now() + pause > end)
      throw gatewayTimeout(`The engine state stayed locked by another run for ${limit_s}s.`)
    run.log.info('the engine state is locked by another run', { pause_ms: pause })
    await delay(pause, run.signal)
  }
}

/**
 * The holder's facts, or the answer of a store that keeps one lock only: the holder may be gone before its
 * facts are read. Anything else is a refusal that stays.
 */
const HELD = /^[│\s]*Lock Info:|PreconditionFailed|ConditionalCheckFailed|ConditionalRequestConflict|already locked/m

const heldByAnother = ({ exit_code, stderr }: EngineResult) =>
  exit_code !== 0 && /^[│\s]*Error: Error acquiring the state lock/m.test(stderr) && HELD.test(stderr)
