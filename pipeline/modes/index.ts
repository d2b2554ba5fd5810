import { inWorkspace, type ModeHandler, type Modes } from '../kit/run.ts'
import { apply } from './apply.ts'
import { drift } from './drift.ts'
import { driftPreview } from './drift-preview.ts'
import { generate } from './generate.ts'
import { importResources } from './import.ts'
import { importPreview } from './import-preview.ts'

const orPreview = (handle: ModeHandler, preview: ModeHandler) =>
  inWorkspace((run) => (run.round.preview ? preview(run) : handle(run)))

export const modes: Modes = {
  generate: inWorkspace(generate),
  drift: orPreview(drift, driftPreview),
  import: orPreview(importResources, importPreview),
  apply,
}
