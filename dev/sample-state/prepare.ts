import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import type { StorageConfig } from '../../config/types.ts'
import { deriveProjectId } from '../../src/plan/state/managed-state.ts'
import { EXAMPLES, type ExampleName, SCOPE, uriOfSample } from '../scripted-model/examples.ts'
import { connectStackEngine } from './engine-root.ts'

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
  /** Later changes outside of the code. */
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

/** The part of a state document (version 4) that is read here. Everything else is kept as it is. */
export interface StateDocument {
  serial: number
  resources: { type: string; name: string; instances: { attributes: Record<string, unknown> }[] }[]
}

/** Gives access to the state documents of the engine in the embedded object store. */
export function stateObjects(storage: StorageConfig) {
  const { access_key, secret_key, region } = storage
  const keys = { accessKeyId: access_key, secretAccessKey: secret_key }
  const client = new AwsClient({ ...keys, service: 's3', region, retries: 0 })
  const call = async (method: string, projectId: string, options: { ending?: string; body?: string } = {}) => {
    const bucketUrl = `${storage.endpoint_url}/${storage.engine_state_bucket}`
    const url = `${bucketUrl}/${projectId}/${storage.engine_state_filename}${options.ending ?? ''}`
    const response = await client.fetch(url, { method, body: options.body, signal: AbortSignal.timeout(10_000) })
    const text = await response.text()
    if (!response.ok && response.status !== 404)
      throw new Error(`the object store answered ${response.status} to ${method} of a sample's state`)
    return response.ok ? text : null
  }
  return {
    /** Reads a state document; null when there is none. */
    read: async (projectId: string): Promise<StateDocument | null> =>
      JSON.parse((await call('GET', projectId)) ?? 'null'),
    write: (projectId: string, state: StateDocument) =>
      call('PUT', projectId, { body: JSON.stringify(state, null, 2) }),
    /** Removes the document, and the lock that a killed engine may have left. */
    remove: async (projectId: string): Promise<void> => {
      for (const ending of ['', '.tflock']) await call('DELETE', projectId, { ending })
    },
  }
}

/** A setting of a built-in resource that was changed outside of the code, from one value to the other or back. */
export interface ManualChange {
  name: string
  attribute: string
  from: string | number | boolean
  to: string | number | boolean
}

/** Edits a state as a refresh does after changes outside of the code. Errors: the resource or attribute is missing. */
export function changeByHand(state: StateDocument, changes: readonly ManualChange[]): StateDocument {
  const edited = structuredClone(state)
  for (const { name, attribute, from, to } of changes) {
    const resource = edited.resources.find((one) => one.type === 'terraform_data' && one.name === name)
    const attributes = resource?.instances[0]?.attributes
    // The built-in resource repeats its input as its output.
    const values = [attributes?.input, attributes?.output].map(dynamicValue)
    for (const value of values) {
      if (!value || !(attribute in value)) throw new Error(`the state of terraform_data.${name} holds no ${attribute}`)
      value[attribute] = value[attribute] === from ? to : from
    }
  }
  return { ...edited, serial: state.serial + 1 }
}

/** Reads a value of a dynamic type, which is stored together with its type. */
function dynamicValue(attribute: unknown): Record<string, unknown> | null {
  if (typeof attribute !== 'object' || attribute === null || !('value' in attribute)) return null
  const { value } = attribute
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
}
