import type { OrchestrationConfig } from '../../../config/types.ts'
import { modes } from '../../../pipeline/modes/index.ts'
import type { Cloud } from '../../../src/base/vocabulary.ts'
import type { EngineResult } from '../../../src/services/iac/contract.ts'
import { type createSteps, type EngineScript, ok, type StepWorld } from '../../pipeline/steps/support.ts'
import { importRound } from './import-world.ts'

export type Steps = Awaited<ReturnType<typeof createSteps>>

export interface ImportEngine {
  /** Addresses in the code. Each is planned as `create` until it is imported. */
  code?: readonly string[]
  scope?: readonly string[] | Partial<EngineResult>
  /** Values that blocks of the code have, by address. */
  values?: Record<string, Record<string, unknown>>
  /** Values of objects, which a plan after their import shows as those before it, by address. */
  objects?: Record<string, Record<string, unknown>>
  /** Addresses in the state from the start. */
  state?: readonly string[] | Partial<EngineResult>
  /** More entries of `resource_changes`. */
  changes?: readonly Record<string, unknown>[]
  /** `configuration` of every plan. */
  configuration?: Record<string, unknown>
  /** Gives another answer in place of a job. */
  answer?: (kind: string, body: Record<string, unknown>, number: number) => Partial<EngineResult> | undefined
}

/** Makes an engine that imports everything, with a state from which plans are made. */
export function importEngine(given: ImportEngine): EngineScript & { imported: Map<string, string> } {
  const imported = new Map<string, string>()
  const { code = [], scope = [], state = [], changes = [], configuration = {}, values = {}, objects = {} } = given
  const listed = (list: readonly string[] | Partial<EngineResult>, more: readonly string[] = []) =>
    isList(list) ? ok(JSON.stringify([...list, ...more])) : list
  const script: EngineScript = ({ kind, body }, number) => {
    const answer = given.answer?.(kind, body, number)
    if (answer) return answer
    if (kind === 'scope_resource_ids') return listed(scope)
    if (kind === 'state_resource_ids') return listed(state, [...imported.values()])
    if (kind === 'import') imported.set(String(body.address), String(body.resource_id))
    if (kind === 'state_rm') imported.delete(String(body.address))
    return kind === 'show'
      ? ok(JSON.stringify({ ...documentOf(code, imported, changes, { values, objects }), configuration }))
      : ok(`${kind} output`)
  }
  return Object.assign(script, { imported })
}

const isList = (value: readonly string[] | object): value is readonly string[] => Array.isArray(value)

/** Makes an entry of `resource_changes`. */
export const entryOf = (address: string, change: { actions: string[]; [key: string]: unknown }) => ({
  address,
  mode: 'managed',
  type: address.split('.').at(-2),
  name: 'b',
  change,
})

function documentOf(
  code: readonly string[],
  imported: ReadonlyMap<string, string>,
  changes: readonly Record<string, unknown>[],
  { values, objects }: Required<Pick<ImportEngine, 'values' | 'objects'>>,
) {
  const resources = [...imported].map(([address, id]) => ({ address, mode: 'managed', values: { id } }))
  return {
    format_version: '1.2',
    configuration: {},
    resource_changes: [
      ...code.map((address) => {
        const before = (imported.has(address) && objects[address]) || null
        const actions = [imported.has(address) ? (before ? 'update' : 'no-op') : 'create']
        return entryOf(address, { actions, before, after: values[address] ?? null })
      }),
      ...changes,
    ],
    prior_state: { values: { root_module: { resources } } },
  }
}

export const QUERY = 'Import it'
const CODE = ['terraform_data.a', 'terraform_data.b']

export interface Given extends ImportEngine {
  scripts?: Parameters<typeof importRound>[0]
  partial?: boolean
  provider?: Cloud
  exceptions?: string
  orchestration?: Partial<OrchestrationConfig>
}

/** Prepares a claimed import round over the engine above. */
export async function prepare(steps: Steps, given: Given) {
  const { provider = 'aws', exceptions = '', orchestration = {} } = given
  const engine = importEngine({ code: CODE, ...given })
  const prompts = { [`${provider}-guidelines-import_exceptions`]: exceptions }
  const world = await steps.world({ scripts: importRound(given.scripts), engine, query: QUERY, prompts, orchestration })
  const { round } = world.run
  Object.assign(round, { mode: 'import', is_partial: given.partial ?? false })
  round.session.provider = provider
  return { world, engine }
}

/** Runs the mode itself, in process. */
export async function play(steps: Steps, given: Given) {
  const { world, engine } = await prepare(steps, given)
  const outcome = await modes.import.handle(world.run)
  return { world, outcome, engine, report: reportOf(world) }
}

export function reportOf({ objects }: StepWorld) {
  const [entry] = [...objects].filter(([key]) => key.startsWith('reports/import-'))
  return entry ? JSON.parse(entry[1].body) : null
}
