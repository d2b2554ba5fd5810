import { PlatformError } from '../../src/errors.ts'
import type { Mode } from '../../src/sessions/types.ts'
import type { ModeHandler } from '../run.ts'
import { generate } from './generate.ts'

/** What each mode of a round runs. */
export const modes: Record<Mode, ModeHandler> = {
  generate,
  drift: notAvailable('drift'),
  import: notAvailable('import'),
  apply: notAvailable('apply'),
}

function notAvailable(mode: Mode): ModeHandler {
  return async () => {
    throw new PlatformError('ModeNotAvailable', 501, `The mode ${mode} is not available yet.`)
  }
}
