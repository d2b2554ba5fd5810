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
  /** True when the platform could not look, false when it looked and there is nothing to import. */
  failed: boolean
}

/** What a scope holds that no state manages. */
export interface Discovery {
  /** Identifiers in the managed state. */
  managed: string[]
  /** Identifiers that can be imported. */
  ids: string[]
  /** Identifiers that are not managed and not imported either, with the reason. */
  withheld: Excluded[]
  /** Set when nothing can be imported. */
  ending: Ending | null
}

/**
 * Compares the inventory of the scope with the managed state. When the scope cannot be listed, that is no error but a
 * discovery with an `ending`.
 * Errors: `EngineInitFailed`; `StateNotListed`; 502 for lists that cannot be read; those of the iac client.
 */
export async function discover(kit: Kit): Promise<Discovery> {
  const { run, engine, secrets } = kit
  const { provider, scope_id } = run.round.session
  const init = await initialise(kit)
  if (init) throw new PlatformError('EngineInitFailed', 502, engineWords(kit, init, 'init'))
  const managed = await readManagedIds(kit)
  const discovery: Discovery = { managed, ids: [], withheld: [], ending: null }
  const endWith = (text: string, failed = false): Discovery => ({
    ...discovery,
    ending: { text: secrets.text(text), failed },
  })
  const body = { workspace_path: run.workspace.iacRoot, scope_id, engine_provider: provider }
  const inventory = await engine.run('scope_resource_ids', body)
  if (inventory.exit_code !== 0)
    return endWith(
      `The scope ${scope_id} could not be listed: ${inventory.stderr.trim() || 'engine scope failed'}`,
      true,
    )
  const scope = parseIdentifiers(inventory.stdout, 'scope')
  const emptyText = `The scope ${scope_id} holds no importable resource.`
  if (scope.length === 0) return endWith(emptyText)
  const { ids, withheld } = findUnmanaged(
    { scope, state: managed, exceptions: await readImportExceptions(kit) },
    identityOf(provider),
  )
  Object.assign(discovery, { ids, withheld })
  if (ids.length + withheld.length === 0) return endWith(`Every resource in the scope ${scope_id} is already managed.`)
  const hasExceptions = withheld.some(({ details }) => details === EXCEPTED)
  if (ids.length === 0)
    return endWith(
      hasExceptions ? `Every unmanaged resource in the scope ${scope_id} is on the import exception list.` : emptyText,
    )
  return discovery
}

/** Identifiers of everything the state manages. Errors: `StateNotListed` with the engine's words; 502. */
export async function readManagedIds(kit: Kit): Promise<string[]> {
  const listed = await kit.engine.run('state_resource_ids', { workspace_path: kit.run.workspace.iacRoot })
  if (listed.exit_code === 0) return parseIdentifiers(listed.stdout, 'state')
  throw new PlatformError('StateNotListed', 502, `The state could not be listed: ${engineWords(kit, listed, 'state')}`)
}

const engineWords = ({ secrets }: Kit, { stderr }: EngineResult, step: string) =>
  secrets.text(stderr.trim() || `engine ${step} failed`)

/** The organisation's list of resources that are never imported. Kubernetes has no such list. */
async function readImportExceptions({ run }: Kit): Promise<string[]> {
  const { provider } = run.round.session
  if (provider === 'kubernetes') return []
  const body = await run.context.prompts.body(`${provider}-guidelines-import_exceptions`, run.signal)
  return importExceptions(body)
}
