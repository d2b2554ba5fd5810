import { open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/types.ts'
import { internal } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import { deriveProjectId, overrideFile } from '../../src/plan/state/managed-state.ts'
import type { SessionFacts } from '../../src/sessions/types.ts'

/**
 * Writes the backend override into an engine root, readable by this user alone; nothing when state is
 * not managed. Must run before every init.
 * @param iacRoot absolute path
 * Errors: 500 `Error Engine backend override render.`, or naming a file of the repository that sets a backend of its own.
 */
export async function writeOverride(
  config: Config,
  session: Pick<SessionFacts, 'scope_id' | 'workspace'>,
  iacRoot: string,
  log: Logger,
): Promise<void> {
  const { uri, root_path } = session.workspace
  const file = overrideFile(config.storage, await deriveProjectId(uri, session.scope_id, root_path))
  if (!file) return
  await refuseForeignBackend(iacRoot, config.paths.backend_override_filename)
  const path = join(iacRoot, config.paths.backend_override_filename)
  try {
    // Whatever the repository holds under this name, a symlink for example, is not written through.
    await rm(path, { recursive: true, force: true })
    const handle = await open(path, 'wx', 0o600)
    try {
      await handle.writeFile(file.content)
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw internal('Error Engine backend override render.', error)
  }
  log.info('engine backend override written', { provider: config.storage.provider, bucket: file.bucket, key: file.key })
}

/** `.tofu` files win over `.tf` files of the same name in OpenTofu. */
const OVERRIDE_FILE = /^(?:.*_)?override\.(?:tf|tofu)(?:\.json)?$/
/** A terraform block can only name its state by these words; comments that hold both are refused too. */
const SETS_STATE = (text: string) => /\bterraform\b/.test(text) && /\b(?:backend|cloud)\b/.test(text)

/**
 * An override file of the repository that sets a state backend would win over the managed one or be
 * confused with it, and send the state elsewhere.
 * Errors: 500 naming the file.
 */
async function refuseForeignBackend(iacRoot: string, ownName: string): Promise<void> {
  const names = (await readdir(iacRoot).catch(() => [])).filter((name) => name !== ownName && OVERRIDE_FILE.test(name))
  for (const name of names) {
    const text = await readFile(join(iacRoot, name), 'utf8').catch(() => '')
    if (SETS_STATE(name.endsWith('.json') ? normalisedJson(text) : text))
      throw internal(
        `The override file '${name}' of the repository sets a state backend, but the platform manages the state: remove it.`,
      )
  }
}

/** Keys written with escapes become plain; what is no JSON is refused by the engine. */
function normalisedJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}
