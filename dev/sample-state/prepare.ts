import { join } from 'node:path'
import { deriveProjectId } from '../../src/plan/state/managed-state.ts'
import { EXAMPLES, type ExampleName, SCOPE, uriOfSample } from '../scripted-model/examples.ts'
import { connectStackEngine } from './engine-root.ts'
import { changeByHand, type ManualChange, stateObjects } from './state-objects.ts'

/**
 * Makes states on a running stack with an embedded object store and git host. The stack's iac sidecar applies or
 * imports the code on the default branch of the samples.
 * @param folder data folder of the stack
 */
export async function createSampleStates(folder: string, repositories: readonly string[]) {
  const engine = await connectStackEngine(folder)
  const objects = stateObjects(engine.config.storage)
  const uriOf = (sample: string) => {
    const uri = uriOfSample(repositories, sample)
    if (!uri) throw new Error(`the git host of this stack has no repository ${sample}`)
    return uri
  }
  const idOf = ({ sample, iac_path }: SampleRoot) => deriveProjectId(uriOf(sample), SCOPE, iac_path)
  const build = async ({ sample, iac_path, past }: SampleRoot, id: string, signal?: AbortSignal) => {
    if (past.kind === 'none') return
    const source = join(folder, 'git-host/repositories/samples', `${sample}.git`)
    const place = { source, uri: uriOf(sample), branch: 'main', iac_path, scope_id: SCOPE, cloud: 'aws' } as const
    const root = await engine.open(place)
    try {
      if (past.kind === 'imported') return await root.importCommented(signal)
      await root.apply(signal)
    } finally {
      await root.dispose()
    }
    const state = await objects.read(id)
    if (state && past.changes.length > 0) await objects.write(id, changeByHand(state, past.changes))
  }
  /** Resets the root's state to its history. */
  const reset = async (root: SampleRoot, signal?: AbortSignal): Promise<void> => {
    const id = await idOf(root)
    await objects.remove(id)
    try {
      await build(root, id, signal)
    } catch (error) {
      // A partial state would count as complete at the next start.
      await objects.remove(id)
      throw error
    }
  }
  return {
    reset,
    /** Does the same, but only for a root without state. */
    prepare: async (root: SampleRoot, signal?: AbortSignal): Promise<void> => {
      if ((await objects.read(await idOf(root))) === null) await reset(root, signal)
    },
  }
}

/** The history of a sample root before a request works on it. */
type Past =
  /** It was never applied. */
  | { kind: 'none' }
  /** It was applied, and then settings were changed outside of the code. */
  | { kind: 'applied'; changes: readonly ManualChange[] }
  /** The blocks with an identifier of the account in a comment were imported. */
  | { kind: 'imported' }

interface SampleRoot {
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
