import { inWorkspace, type ModeHandler, type Modes } from '../kit/run.ts'
import { apply } from './apply.ts'
import { drift, driftPreview } from './drift.ts'
import { generate } from './generate.ts'
import { importPreview, importResources } from './import.ts'

const orPreview = (handle: ModeHandler, preview: ModeHandler) =>
  inWorkspace((run) => (run.round.preview ? preview(run) : handle(run)))

export const modes: Modes = {
  generate: inWorkspace(generate),
  drift: orPreview(drift, driftPreview),
  import: orPreview(importResources, importPreview),
  apply,
}
