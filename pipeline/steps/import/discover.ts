import { PlatformError } from '../../../src/base/errors.ts'
import { explainDiscoveryFailure } from '../../../src/plan/imports/discovery-failure.ts'
import { identityOf, parseIdentifiers } from '../../../src/plan/imports/identifiers.ts'
import { EXCEPTED, type Excluded, findUnmanaged, importExceptions } from '../../../src/plan/imports/inventory.ts'
import type { EngineResult } from '../../../src/services/iac/contract.ts'
import type { Kit } from '../../kit/kit.ts'
import { initialise } from '../plan/plan.ts'

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
  const { provider, scope_id } = run.round.session
  const init = await initialise(kit)
  if (init) throw new PlatformError('EngineInitFailed', 502, explain(kit, 'The engine could not be initialised', init))
  const managed = await readManagedIds(kit)
  const body = { workspace_path: run.workspace.iacRoot, scope_id, engine_provider: provider }
  const inventory = await engine.run('scope_resource_ids', body)
  if (inventory.exit_code === 0) return await compare(kit, managed, parseIdentifiers(inventory.stdout, 'scope'))
  const failure = explain(kit, `The scope ${scope_id} could not be listed`, inventory, 'scope')
  return { managed, scope: [], ids: [], withheld: [], ending: null, failure }
}

async function compare(kit: Kit, managed: string[], scope: readonly string[]): Promise<Discovery> {
  const { provider, scope_id } = kit.run.round.session
  const emptyText = `The scope ${scope_id} holds no importable resource.`
  const endWith = (text: string, withheld: Excluded[] = []): Discovery => ({
    managed,
    scope,
    ids: [],
    withheld,
    ending: kit.secrets.text(text),
    failure: null,
  })
  if (scope.length === 0) return endWith(emptyText)
  const { ids, withheld } = findUnmanaged(
    { scope, state: managed, exceptions: await readImportExceptions(kit) },
    identityOf(provider),
  )
  if (ids.length > 0) return { managed, scope, ids, withheld, ending: null, failure: null }
  if (withheld.length === 0) return endWith(`Every resource in the scope ${scope_id} is already managed.`)
  const hasExceptions = withheld.some(({ details }) => details === EXCEPTED)
  return endWith(
    hasExceptions ? `Every unmanaged resource in the scope ${scope_id} is on the import exception list.` : emptyText,
    withheld,
  )
}

/** Returns all identifiers in the state. Errors: `StateNotListed` with the engine output; 502. */
export async function readManagedIds(kit: Kit): Promise<string[]> {
  const listed = await kit.engine.run('state_resource_ids', { workspace_path: kit.run.workspace.iacRoot })
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
