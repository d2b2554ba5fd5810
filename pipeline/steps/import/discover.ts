import { PlatformError } from '../../../src/base/errors.ts'
import { importFilter } from '../../../src/chains/import-chains.ts'
import { explainDiscoveryFailure } from '../../../src/plan/imports/discovery-failure.ts'
import {
  EXCEPTED,
  type Excluded,
  findUnmanaged,
  identityOf,
  importExceptions,
  parseIdentifiers,
} from '../../../src/plan/imports/inventory.ts'
import type { Failure } from '../../../src/plan/imports/pairs.ts'
import type { EngineResult } from '../../../src/services/iac/contract.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import { initialise } from '../plan/plan.ts'
import type { Conventions } from '../shared/compose-prompts.ts'

export interface Discovery {
  managed: string[]
  /** Everything in the scope, managed or not; empty when it could not be listed. */
  scope: readonly string[]
  /** Identifiers that can be imported. */
  ids: string[]
  /** Identifiers that are neither managed nor imported, with the reason. */
  withheld: Excluded[]
  /** The reason why nothing can be imported from the listed scope; null when something can. */
  ending: string | null
  /** The reason why the scope could not be listed, with the setting that helps; null otherwise. */
  failure: string | null
}

/**
 * Compares the inventory of the scope with the managed state. A scope that cannot be listed only sets `failure`,
 * because a continued import needs just the state. Errors: `EngineInitFailed`; `StateNotListed`; 502 for unreadable
 * lists; those of the iac client.
 */
export async function discover(kit: Kit): Promise<Discovery> {
  const { run, engine } = kit
  const { scope_id } = run.round.session
  const init = await initialise(kit)
  if (init) throw new PlatformError('EngineInitFailed', 502, explain(kit, 'The engine could not be initialised', init))
  const managed = await readManagedIds(kit)
  const inventory = await engine.run('scope_resource_ids', engine.scoped)
  if (inventory.exit_code === 0) return await compare(kit, managed, parseIdentifiers(inventory.stdout, 'scope'))
  const failure = explain(kit, `The scope ${scope_id} could not be listed`, inventory, 'scope')
  return { managed, scope: [], ids: [], withheld: [], ending: null, failure }
}

async function compare(kit: Kit, managed: string[], scope: readonly string[]): Promise<Discovery> {
  const { provider, scope_id } = kit.run.round.session
  const emptyText = `The scope ${scope_id} holds no importable resource.`
  const found: Discovery = { managed, scope, ids: [], withheld: [], ending: null, failure: null }
  const endWith = (text: string, withheld: Excluded[] = []) => ({ ...found, withheld, ending: kit.secrets.text(text) })
  if (scope.length === 0) return endWith(emptyText)
  const { ids, withheld } = findUnmanaged(
    { scope, state: managed, exceptions: await readImportExceptions(kit) },
    identityOf(provider),
  )
  if (ids.length > 0) return { ...found, ids, withheld }
  if (withheld.length === 0) return endWith(`Every resource in the scope ${scope_id} is already managed.`)
  const hasExceptions = withheld.some(({ details }) => details === EXCEPTED)
  return endWith(
    hasExceptions ? `Every unmanaged resource in the scope ${scope_id} is on the import exception list.` : emptyText,
    withheld,
  )
}

/** Returns all identifiers in the state. Errors: `StateNotListed` with the engine output; 502. */
export async function readManagedIds(kit: Kit): Promise<string[]> {
  const listed = await kit.engine.run('state_resource_ids', kit.engine.place)
  if (listed.exit_code === 0) return parseIdentifiers(listed.stdout, 'state')
  throw new PlatformError('StateNotListed', 502, explain(kit, 'The state could not be listed', listed, 'state'))
}

/** Describes a failure by the output of engine or cloud, masked and without paths, and names the setting that helps. */
function explain({ run, secrets }: Kit, attempted: string, { stderr }: EngineResult, step = 'init'): string {
  const { iacRoot, clone } = run.workspace
  const said = stderr.trim().replaceAll(iacRoot, '.').replaceAll(clone, '.')
  const words = secrets.text(said || `engine ${step} failed`)
  const { provider: cloud } = run.round.session
  return explainDiscoveryFailure({ attempted, words, cloud, byEngine: step !== 'scope' })
}

/** Reads the organisation's list of resources that are never imported; Kubernetes has none. */
async function readImportExceptions({ run }: Kit): Promise<string[]> {
  const { provider } = run.round.session
  if (provider === 'kubernetes') return []
  const body = await run.context.prompts.body(`${provider}-guidelines-import_exceptions`, run.signal)
  return importExceptions(body)
}

export interface Selection {
  ids: string[]
  excluded: Excluded[]
  /** Chosen from a preview, but no longer in the scope. */
  missing: Failure[]
  /** The reason why the round imports nothing; null when it imports something. */
  ending: string | null
}

const NONE_MATCHED = 'No unmanaged resource matched the request.'
export const notSelected = (ids: readonly string[]): Excluded[] =>
  ids.map((id) => ({ resource_id: id, details: 'Not selected by the request.' }))

/** Describes an identifier that a model has invented. */
export const notOffered = (id: string): Excluded => ({
  resource_id: id,
  details: 'Named by a model, and not among the identifiers that it was given.',
})

const GONE = 'The scope does not list it any more.'
const MANAGED_SINCE = 'Managed since the preview.'
const NONE_LEFT = 'None of the chosen resources can be imported any more.'

/** Selects the choice from a preview, else in a partial round those that a model picks, else all unmanaged. */
export async function selectResources(
  kit: Kit,
  discovery: Pick<Discovery, 'scope' | 'ids' | 'withheld'>,
  conventions: Conventions,
): Promise<Selection> {
  const { ids, withheld } = discovery
  const { round } = kit.run
  if (round.resource_ids) return selectChosen(kit, discovery, round.resource_ids)
  if (!round.is_partial) return { ids, excluded: withheld, missing: [], ending: null }
  const selected = await runChain(kit, importFilter, {
    cloud: round.session.provider,
    request: round.query,
    unmanagedIds: ids,
    ...conventions,
  })
  const selectedIds = new Set(selected.ids)
  const others = notSelected(ids.filter((id) => !selectedIds.has(id)))
  const none = selected.ids.length === 0 ? selected.explanation || NONE_MATCHED : null
  const excluded = [...withheld, ...others, ...selected.invented.map(notOffered)]
  return { ids: selected.ids, excluded, missing: [], ending: none }
}

/** Selects the resources chosen from a preview that still exist and are still unmanaged. */
export function selectChosen(
  { run }: Kit,
  { scope, ids, withheld }: Pick<Discovery, 'scope' | 'ids' | 'withheld'>,
  chosen: readonly string[],
): Selection {
  const identity = identityOf(run.round.session.provider)
  const wanted = new Map(chosen.map((id) => [identity(id), id]))
  const known = (list: readonly string[]) => new Set(list.map(identity))
  const [listed, open] = [known(scope), known([...ids, ...withheld.map(({ resource_id }) => resource_id)])]
  const entries = [...wanted]
  const selected = ids.filter((id) => wanted.has(identity(id)))
  const managed = entries.filter(([key]) => listed.has(key) && !open.has(key))
  const others = ids.filter((id) => !wanted.has(identity(id)))
  return {
    ids: selected,
    excluded: [
      ...withheld,
      ...managed.map(([, id]) => ({ resource_id: id, details: MANAGED_SINCE })),
      ...notSelected(others),
    ],
    missing: entries
      .filter(([key]) => !listed.has(key))
      .map(([, id]) => ({ address: '', resource_id: id, error: GONE })),
    ending: selected.length === 0 ? NONE_LEFT : null,
  }
}
