import type { Db } from '../data/db/sql.ts'
import type { StateVersion } from '../plan/state/state.ts'
import { decrypt, encrypt, MAX_OBJECT_BYTES, type Store } from './encrypted-archive.ts'

/** A plan of the code before a session, kept for its later rounds. */
export interface KeptBasePlan {
  commit: string
  state: StateVersion
  /** SHA-256 of the lock file of the providers, in lower-case hexadecimal digits; null without one. */
  lock_sha256: string | null
  /** The plan as the engine shows it, unmasked. */
  text: string
}

/** Larger ones are not kept. */
const MAX_BYTES = 32 * 1024 * 1024

/** Returns the key of the object; each session has one. */
export const basePlanKey = (uuid: string) => `sessions/${uuid}/saved-plans/base.plan`
const describeOwner = (uuid: string) => `${uuid}\nbase plan`

/**
 * Encrypts a plan as the archives are, for upload; null without the operator's key, and for a plan that is too large.
 */
export async function encryptBasePlan({ config }: Pick<Store, 'config'>, uuid: string, plan: KeptBasePlan) {
  if (config.worker.pin_key === '') return null
  const { text, ...facts } = plan
  const plain = new TextEncoder().encode(`${JSON.stringify(facts)}\n${text}`)
  return plain.length > MAX_BYTES ? null : await encrypt(config.worker.pin_key, describeOwner(uuid), plain)
}

/** Downloads the kept plan; null when there is none or it cannot be decrypted. Errors: those of the object store. */
export async function fetchBasePlan(
  { sql, storage, config }: Store & { sql: Db },
  { id, uuid }: { id: number; uuid: string },
  signal?: AbortSignal,
): Promise<KeptBasePlan | null> {
  if (config.worker.pin_key === '') return null
  const [row] = await sql<{ base_plan_key: string | null }[]>`SELECT base_plan_key FROM sessions WHERE id = ${id}`
  if (!row?.base_plan_key) return null
  const encrypted = await storage.get(row.base_plan_key, { signal, maxBytes: MAX_OBJECT_BYTES })
  const plain = await decrypt(config.worker.pin_key, describeOwner(uuid), encrypted)
  if (plain === null) return null
  const text = new TextDecoder().decode(plain)
  const end = text.indexOf('\n')
  return { ...JSON.parse(text.slice(0, end)), text: text.slice(end + 1) }
}
