import { join } from 'node:path'
import type { Config } from '../../config/types.ts'
import { internal } from '../../src/base/errors.ts'
import {
  deriveProjectId,
  STATE_KEYS_FILE,
  type StateKeySource,
  type StateKeys,
  stateKeysFile,
} from '../../src/plan/state/managed-state.ts'
import type { SessionFacts } from '../../src/rounds/round.ts'
import { assertNotReplaced } from './backend-override.ts'
import { isShared } from './files/shared-folder.ts'
import { writePrivateFile } from './saved-plans/private-files.ts'

/**
 * Writes new keys for the project's state next to the backend override, readable by this user only; the engine reads
 * them at the start of each command. Returns null and writes nothing without a source: the override then has the
 * configured keys. Errors: those of the source; 500 `Error Engine backend override render.`
 * @param iacRoot absolute path
 */
export async function writeStateKeys(
  { config, stateKeys: source }: { config: Pick<Config, 'paths'>; stateKeys?: StateKeySource },
  session: Pick<SessionFacts, 'scope_id' | 'workspace'>,
  iacRoot: string,
): Promise<StateKeys | null> {
  if (source === undefined) return null
  const { uri, root_path } = session.workspace
  const keys = await source.issue(await deriveProjectId(uri, session.scope_id, root_path))
  try {
    await assertNotReplaced(config.paths.upload_folder, iacRoot)
    const shared = await isShared(config.paths.upload_folder)
    await writePrivateFile(join(iacRoot, STATE_KEYS_FILE), stateKeysFile(keys), { shared })
  } catch (error) {
    throw internal('Error Engine backend override render.', error)
  }
  return keys
}
