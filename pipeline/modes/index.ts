import { PlatformError } from '../../src/errors.ts'
import type { Mode } from '../../src/sessions/types.ts'
import { inWorkspace, type Modes } from '../run.ts'
import { drift } from './drift.ts'
import { generate } from './generate.ts'
import { importResources } from './import.ts'

/** What each mode of a round runs. */
export const modes: Modes = {
  generate: inWorkspace(generate),
  drift: inWorkspace(drift),
  import: inWorkspace(importResources),
  apply: { workspace: false, handle: notAvailable('apply') },
}

function notAvailable(mode: Mode) {
  return async (): Promise<never> => {
    throw new PlatformError('ModeNotAvailable', 501, `The mode ${mode} is not available yet.`)
  }
}
