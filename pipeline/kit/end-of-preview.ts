import type { RoundEnd } from '../../src/rounds/finish.ts'

const FAILED = /^runner failed: /

/**
 * Returns the end of a preview as it is saved: conversation, result and commit are dropped, so that the session
 * continues as before. A failed preview ends `uncompleted`, because no round can follow a failed one.
 */
export function endOfPreview<Other extends string>(end: RoundEnd | Other): RoundEnd | Other {
  if (typeof end === 'string') return end
  const { status, message, usage } = end
  const kept = { usage, history: null, commit: null }
  return status === 'failed'
    ? { ...kept, status: 'uncompleted', message: message.replace(FAILED, 'The preview could not be made: ') }
    : { ...kept, status, message }
}
