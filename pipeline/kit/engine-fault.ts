import { PlatformError } from '../../src/base/errors.ts'
import { cutEnd } from '../../src/base/text.ts'
import type { SecretRegister } from '../../src/plan/sensitive.ts'

/** Without the ellipsis. */
const MAX_REASON = 300

/** Describes a fault in one masked line, without the engine's frame and cut at the end of a word. */
export function describeFault(error: unknown, secrets: Pick<SecretRegister, 'text'>): string {
  if (!(error instanceof PlatformError)) return 'an unexpected error occurred.'
  const line = secrets
    .text(error.message)
    .replaceAll(/[\s│╷╵]+/g, ' ')
    .trim()
  return cutEnd(line, MAX_REASON + 1)
}
