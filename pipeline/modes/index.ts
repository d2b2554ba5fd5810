import { inWorkspace, type Modes } from '../kit/run.ts'
import { apply } from './apply.ts'
import { drift } from './drift.ts'
import { generate } from './generate.ts'
import { importResources } from './import.ts'

/** The function that runs a round, for each mode. */
export const modes: Modes = {
  generate: inWorkspace(generate),
  drift: inWorkspace(drift),
  import: inWorkspace(importResources),
  apply,
}
