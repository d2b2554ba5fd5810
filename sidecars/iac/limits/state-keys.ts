import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The file for temporary keys of the state store, named by its backend block (`src/plan/state/managed-state.ts`). */
export const STATE_KEYS_FILE = '.platform-state-credentials'
const MAX_BYTES = 64 * 1024

/** The syntax of keys alone: other settings of that format name programs and files. */
const KEYS_ALONE =
  /^\[platform-state\]\n(?:aws_(?:access_key_id|secret_access_key|session_token) = [A-Za-z0-9+/=_.:~-]+\n){3}$/
const KEY_OF_FILE = /^aws_(?:secret_access_key|session_token) = (\S+)$/gm
const KEY_OF_BLOCK = /^\s*(?:access_key|secret_key|token|sas_token)\s*=\s*"((?:[^"\\]|\\.)*)"/gm

async function readRegular(path: string): Promise<string> {
  const entry = await lstat(path).catch(() => null)
  return entry?.isFile() && entry.size <= MAX_BYTES ? await readFile(path, 'utf8').catch(() => '') : ''
}

/** Reports whether the keys file of a workspace holds keys alone, so that the engine may read it. */
export const holdsKeysAlone = async (workspace: string): Promise<boolean> =>
  KEYS_ALONE.test(await readRegular(join(workspace, STATE_KEYS_FILE)))

/** Reads the keys of the state store from files of the workspace, to hide them in the output. */
export async function readStateSecrets(workspace: string, overrideName: string): Promise<string[]> {
  const [keys, override] = await Promise.all(
    [STATE_KEYS_FILE, overrideName].map((name) => readRegular(join(workspace, name))),
  )
  const found = [...(keys ?? '').matchAll(KEY_OF_FILE), ...(override ?? '').matchAll(KEY_OF_BLOCK)]
  return found.flatMap(([, value = '']) => (value === '' ? [] : [value.replaceAll(/\\(.)/g, '$1')]))
}
