import { PlatformError } from '../../../src/base/errors.ts'
import { identityOf, parseIdentifiers } from '../../../src/plan/imports/identifiers.ts'
import { EXCEPTED, type Excluded, findUnmanaged, importExceptions } from '../../../src/plan/imports/unmanaged.ts'
import type { EngineResult } from '../../../src/services/iac/types.ts'
import type { Kit } from '../../kit/kit.ts'
import { initialise } from '../shared/plan.ts'

/** Why a round imports nothing. */
export interface Ending {
  /** Shown to the user. */
  text: string
  /** The platform could not look, as opposed to: there is nothing to do. */
  failed: boolean
}

/** What a scope holds beyond the managed state. `ending` is set when nothing of it can be imported. */
export interface Discovery {
  /** Identifiers in the managed state. */
  managed: string[]
  ids: string[]
  withheld: Excluded[]
  ending: Ending | null
}

/**
 * Compares the inventory of the scope with the managed state. A scope that cannot be listed is a result.
 * Errors: `EngineInitFailed`; `StateNotListed`; 502 for lists that cannot be read; those of the iac client.
 */
export async function discover(kit: Kit): Promise<Discovery> {
  const { run, engine, secrets } = kit
  const { provider, scope_id } = run.round.session
  const init = await initialise(kit)
  if (init) throw new PlatformError('EngineInitFailed', 502, saidBy(kit, init, 'init'))
  const managed = await managedIds(kit)
  const found: Discovery = { managed, ids: [], withheld: [], ending: null }
  const nothing = (text: string, failed = false): Discovery => ({
    ...found,
    ending: { text: secrets.text(text), failed },
  })
  const body = { workspace_path: run.workspace.iac_root, scope_id, engine_provider: provider }
  const listed = await engine.run('scope_resource_ids', body)
  if (listed.exit_code !== 0)
    return nothing(`The scope ${scope_id} could not be listed: ${listed.stderr.trim() || 'engine scope failed'}`, true)
  const scope = parseIdentifiers(listed.stdout, 'scope')
  const empty = `The scope ${scope_id} holds no importable resource.`
  if (scope.length === 0) return nothing(empty)
  const { ids, withheld } = findUnmanaged(
    { scope, state: managed, exceptions: await exceptions(kit) },
    identityOf(provider),
  )
  Object.assign(found, { ids, withheld })
  if (ids.length + withheld.length === 0) return nothing(`Every resource in the scope ${scope_id} is already managed.`)
  const excepted = withheld.some(({ details }) => details === EXCEPTED)
  if (ids.length === 0)
    return nothing(
      excepted ? `Every unmanaged resource in the scope ${scope_id} is on the import exception list.` : empty,
    )
  return found
}

/** Identifiers of everything the state manages. Errors: `StateNotListed` with the engine's words; 502. */
export async function managedIds(kit: Kit): Promise<string[]> {
  const listed = await kit.engine.run('state_resource_ids', { workspace_path: kit.run.workspace.iac_root })
  if (listed.exit_code === 0) return parseIdentifiers(listed.stdout, 'state')
  throw new PlatformError('StateNotListed', 502, `The state could not be listed: ${saidBy(kit, listed, 'state')}`)
}

const saidBy = ({ secrets }: Kit, { stderr }: EngineResult, step: string) =>
  secrets.text(stderr.trim() || `engine ${step} failed`)

/** Kubernetes has no such list. */
async function exceptions({ run }: Kit): Promise<string[]> {
  const { provider } = run.round.session
  if (provider === 'kubernetes') return []
  const body = await run.context.prompts.body(`${provider}-guidelines-import_exceptions`, run.signal)
  return importExceptions(body)
}
