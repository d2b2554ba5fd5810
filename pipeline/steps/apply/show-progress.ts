import { delay } from '../../../src/base/http.ts'
import type { BareKit } from '../kit.ts'

/** Short applies say nothing; long ones are heard of at this pace. */
const PERIOD_MS = 15_000
const MAX_CHARS = 200

/**
 * Shows the engine's last line while an apply runs, where the iac service tells it, until `ended` fires.
 * Best effort: whatever goes wrong, the apply goes on.
 */
export async function showProgress(
  { run, status, secrets }: BareKit,
  job_id: string,
  ended: AbortSignal,
): Promise<void> {
  const { iac } = run.context
  if (!iac.output) return
  let shown = ''
  try {
    for (;;) {
      await delay(PERIOD_MS, ended)
      const output = await iac.output(job_id, ended)
      if (output === null) return
      // Masked before it is cut: half of a secret would not be found.
      const line = lastLine(secrets.text(output.stdout))
      if (line !== '' && line !== shown && !ended.aborted) await status.show('apply', line)
      shown = line
    }
  } catch (error) {
    if (!ended.aborted) run.log.info('the progress of an apply could not be shown', { error })
  }
}

/** `terraform_data.a: Still creating... [20s elapsed]`, for example. */
function lastLine(text: string): string {
  const line = text.split('\n').findLast((each) => each.trim() !== '')
  return line === undefined ? '' : line.trim().slice(0, MAX_CHARS)
}
