import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/types.ts'
import { sha256Hex } from '../../src/base/bytes.ts'
import { internal } from '../../src/base/errors.ts'
import { parseJson } from '../../src/base/json.ts'
import type { Logger } from '../../src/base/log.ts'
import type { Cloud } from '../../src/base/vocabulary.ts'
import { backendIn } from '../../src/plan/code/backend.ts'
import {
  deriveProjectId,
  overrideFile,
  STATE_KEYS_FILE,
  type StateKeySource,
  type StateKeys,
  stateKeysFile,
} from '../../src/plan/state/managed-state.ts'
import type { SessionFacts } from '../../src/rounds/round.ts'
import { isInside } from './files/confine.ts'
import { isShared, writePrivateFile } from './files/private-files.ts'

/**
 * Writes the override file that sends the engine's state to the configured store, if the platform manages the state.
 * Readable by this user only, and by the group of a shared upload folder. Must run before every init. Errors: 500
 * `Error Engine backend override render.`; 500 with the name of a repository file that sets a backend.
 * @param iacRoot absolute path
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
  await assertNoForeignBackend(iacRoot, config.paths.backend_override_filename)
  await writeIntoRoot(config.paths, iacRoot, config.paths.backend_override_filename, file.content)
  log.info('engine backend override written', { provider: config.storage.provider, bucket: file.bucket, key: file.key })
}

/** A hash that no file has: nothing of the workspace is the platform's own. */
const NO_FILE = '0'.repeat(64)

/**
 * Returns the field of a job about the state of a session; empty when the platform does not manage it. A session that
 * keeps the backend of its repository reaches it with the credentials of its own cloud, whatever the code names.
 */
export async function describeState(
  config: Pick<Config, 'storage'>,
  session: Pick<SessionFacts, 'scope_id' | 'workspace'> & Partial<Pick<SessionFacts, 'provider' | 'state_choice'>>,
): Promise<{ state?: { cloud: Cloud | null; override_sha256: string } }> {
  const { scope_id, workspace, provider = null } = session
  const { uri, root_path } = workspace
  if (session.state_choice === 'keep') return { state: { cloud: provider, override_sha256: NO_FILE } }
  const file = overrideFile(config.storage, await deriveProjectId(uri, scope_id, root_path))
  return file ? { state: { cloud: file.cloud, override_sha256: await sha256Hex(file.content) } } : {}
}

/** Writes a file that is never pushed, unless an engine has replaced its root by a link. Errors: 500. */
export async function writeIntoRoot(
  { upload_folder }: Config['paths'],
  iacRoot: string,
  name: string,
  content: string,
) {
  try {
    const uploads = await realpath(upload_folder).catch(() => null)
    if (uploads !== null && isInside(uploads, iacRoot) && (await realpath(iacRoot)) !== iacRoot)
      throw new Error('a link has taken the place of the engine root')
    await writePrivateFile(join(iacRoot, name), content, { shared: await isShared(upload_folder) })
  } catch (error) {
    throw internal('Error Engine backend override render.', error)
  }
}

/** The backend that a repository declares for its root, or the file in which it keeps the state. */
export interface OwnBackend {
  /** `cloud` for a block of that name. */
  type: string
  /** Relative to the root. */
  file: string
}

/** The state of a root without a backend. */
export const LOCAL_STATE_FILE = 'terraform.tfstate'

/** Finds the backend of the repository in a root that the platform has written nothing to; null for none. */
export async function findOwnBackend(iacRoot: string): Promise<OwnBackend | null> {
  const names = (await readdir(iacRoot)).sort()
  const found = await Promise.all(
    names.map(async (file) => ({
      file,
      type: backendIn(file, await readFile(join(iacRoot, file), 'utf8').catch(() => '')),
    })),
  )
  // Blocks of override files replace those of others.
  const backends = found.flatMap(({ file, type }) => (type === null ? [] : [{ file, type }]))
  const last = backends.findLast(({ file }) => OVERRIDE_FILE.test(file)) ?? backends[0]
  return last ?? (names.includes(LOCAL_STATE_FILE) ? { type: 'local', file: LOCAL_STATE_FILE } : null)
}

/** Names of override files. OpenTofu also reads `.tofu` files and prefers them to `.tf` files of the same name. */
const OVERRIDE_FILE = /^(?:.*_)?override\.(?:tf|tofu)(?:\.json)?$/
/** True for a `terraform` block with `backend` or `cloud`, even in comments. */
const setsBackend = (text: string) => /\bterraform\b/.test(text) && /\b(?:backend|cloud)\b/.test(text)

const MAX_OVERRIDE_BYTES = 1_000_000

/** Throws 500 for an override file that sets a backend, replaces the platform's own, or is too large to be looked at. */
export async function assertNoForeignBackend(iacRoot: string, ownName: string): Promise<void> {
  const names = (await readdir(iacRoot).catch(() => [])).filter((name) => name !== ownName && OVERRIDE_FILE.test(name))
  for (const name of names) {
    if (name === ownName.replace(/\.tf$/, '.tofu'))
      throw internal(
        `OpenTofu reads the file '${name}' of the repository instead of '${ownName}', with which the platform manages ` +
          'the state: rename it.',
      )
    const info = await stat(join(iacRoot, name)).catch(() => null)
    if ((info?.size ?? 0) > MAX_OVERRIDE_BYTES)
      throw internal(
        `The override file '${name}' is larger than ${MAX_OVERRIDE_BYTES} bytes, so that nobody can say whether it ` +
          'sets a state backend: remove it.',
      )
    const text = info?.isFile() ? await readFile(join(iacRoot, name), 'utf8').catch(() => '') : ''
    if (setsBackend(name.endsWith('.json') ? normaliseJson(text) : text))
      throw internal(
        `The override file '${name}' of the repository sets a state backend, but the platform manages the ` +
          'state: remove it.',
      )
  }
}

/** Rewrites JSON, so that no key is hidden by escapes. Invalid JSON is returned as is; the engine refuses it. */
function normaliseJson(text: string): string {
  const json = parseJson(text)
  return json === undefined ? text : JSON.stringify(json)
}

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
  await writeIntoRoot(config.paths, iacRoot, STATE_KEYS_FILE, stateKeysFile(keys))
  return keys
}
