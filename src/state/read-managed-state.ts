import { PlatformError } from '../base/errors.ts'
import type { Context } from '../context.ts'
import { type EngineState, NO_STATE, parseState } from './parse-state.ts'

/**
 * The managed state of a project as it stands; without an object there is none yet. Null when the state is
 * not managed, or is no document that can be read.
 * Errors: those of the object store.
 */
export async function readManagedState(
  { config, state_store }: Pick<Context, 'config' | 'state_store'>,
  project_id: string,
  signal?: AbortSignal,
): Promise<EngineState | null> {
  if (!state_store) return null
  try {
    const bytes = await state_store.get(`${project_id}/${config.storage.engine_state_filename}`, { signal })
    return parseState(new TextDecoder().decode(bytes))
  } catch (error) {
    if (error instanceof PlatformError && error.status === 404) return NO_STATE
    throw error
  }
}
