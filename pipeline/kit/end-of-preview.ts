import type { RoundEnd } from '../../src/rounds/finish.ts'

const FAILED = /^runner failed: /

/**
 * The end of a preview as it is saved. The session goes on as if there had been no preview: conversation, result and
 * commit are not kept, and one that failed ends `uncompleted`, because no round can follow one that failed.
 */
export function endOfPreview<Other extends string>(end: RoundEnd | Other): RoundEnd | Other {
  if (typeof end === 'string') return end
  const { status, message, usage } = end
  const kept = { usage, history: null, commit: null }
  return status === 'failed'
    ? { ...kept, status: 'uncompleted', message: message.replace(FAILED, 'The preview could not be made: ') }
    : { ...kept, status, message }
}
