import { EXAMPLES, type ExampleName } from '../scripted-model/examples.ts'
import type { ManualChange } from './state-objects.ts'

/** The history of a sample root before a request works on it. */
type Past =
  /** It was never applied. */
  | { kind: 'none' }
  /** It was applied, and then settings were changed outside of the code. */
  | { kind: 'applied'; changes: readonly ManualChange[] }
  /** The blocks with an identifier of the account in a comment were imported. */
  | { kind: 'imported' }

export interface SampleRoot {
  sample: string
  iac_path: string | null
  past: Past
}

const setting = (
  name: string,
  attribute: string,
  ...values: [ManualChange['values'][0], ManualChange['values'][1]]
): ManualChange => ({
  type: 'terraform_data',
  name,
  attribute,
  values,
})

const PASTS: Record<string, Past> = {
  'network-baseline': {
    kind: 'applied',
    changes: [
      setting('flow_logs', 'retention_days', 30, 90),
      setting('office_tunnel', 'idle_timeout_minutes', 240, 30),
    ],
  },
  'legacy-accounts': { kind: 'imported' },
  'data-platform': { kind: 'applied', changes: [] },
}

const rootOf = (name: ExampleName): SampleRoot => {
  const { sample, iac_path } = EXAMPLES[name]
  return { sample, iac_path, past: PASTS[sample] ?? { kind: 'none' } }
}

/** Returns the root of an example; null if its state does not matter. */
export const rootOfExample = (name: ExampleName): SampleRoot | null =>
  name === 'generate' || name === 'declined' || name === 'question' || name === 'exhausted' ? null : rootOf(name)

/** The roots that are prepared when the stack starts. */
export const ROOTS_AT_START: readonly SampleRoot[] = (['full-drift', 'full-import', 'blocked'] as const).map(rootOf)
