import type { RoundEnd } from '../../src/rounds/finish.ts'

const FAILED = /^runner failed: /

/** Drops conversation, result and commit of a preview. A failed one is `uncompleted`, so rounds can follow. */
export function endOfPreview<Other extends string>(end: RoundEnd | Other): RoundEnd | Other {
  if (typeof end === 'string') return end
  const { status, message, usage } = end
  const kept = { usage, history: null, commit: null }
  return status === 'failed'
    ? { ...kept, status: 'uncompleted', message: message.replace(FAILED, 'The preview could not be made: ') }
    : { ...kept, status, message }
}
