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
    if (past === null) return
    const source = join(folder, 'git-host/repositories/samples', `${sample}.git`)
    const place = { source, uri: uriOf(sample), branch: 'main', iac_path, scope_id: SCOPE, cloud: 'aws' } as const
    await makePast(await engine.open(place), past, objects, id, signal)
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

/** The history of a root before a request works on it. */
export interface Past {
  /** `applied`: the code was applied. `imported`: the blocks with an identifier in a comment were imported. */
  state: 'applied' | 'imported'
  /** What was changed outside of the code afterwards. */
  changed: readonly ManualChange[]
}

/** Makes the state of an opened root with this past, and disposes of the root. Errors: the engine made no state. */
export async function makePast(
  root: Awaited<ReturnType<Awaited<ReturnType<typeof connectStackEngine>>['open']>>,
  { state: wanted, changed }: Past,
  objects: ReturnType<typeof stateObjects>,
  projectId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    if (wanted === 'imported') await root.importCommented(signal)
    else await root.apply(signal)
  } finally {
    await root.dispose()
  }
  if (changed.length === 0) return
  const state = await objects.read(projectId)
  if (!state) throw new Error('the root was applied and has no state')
  await objects.write(projectId, changeByHand(state, changed))
}

interface SampleRoot {
  sample: string
  iac_path: string | null
  /** Null if it was never applied. */
  past: Past | null
}

const PASTS: Record<string, Past> = {
  'network-baseline': {
    state: 'applied',
    changed: [
      { name: 'flow_logs', attribute: 'retention_days', from: 30, to: 90 },
      { name: 'office_tunnel', attribute: 'idle_timeout_minutes', from: 240, to: 30 },
    ],
  },
  'legacy-accounts': { state: 'imported', changed: [] },
  'data-platform': { state: 'applied', changed: [] },
}

const rootOf = (name: ExampleName): SampleRoot => {
  const { sample, iac_path } = EXAMPLES[name]
  return { sample, iac_path, past: PASTS[sample] ?? null }
}

/** Returns the root of an example; null if its state does not matter. */
export const rootOfExample = (name: ExampleName): SampleRoot | null =>
  name === 'generate' || name === 'declined' || name === 'question' || name === 'exhausted' ? null : rootOf(name)

/** The roots that are prepared when the stack starts. */
export const ROOTS_AT_START: readonly SampleRoot[] = (['full-drift', 'full-import', 'blocked'] as const).map(rootOf)
