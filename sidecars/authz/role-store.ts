import { randomUUID } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { parseJson } from '../../src/base/json.ts'
import { identify as identifyProcess, isAlive } from '../../src/runtime/process-identity.ts'

/** Users and their roles in one JSON file, which other processes may write too. */
export interface RoleStore {
  /** Reads the users; none when the file is missing. Errors: `DamagedStore`. */
  read(): Promise<Users>
  /** Writes the users if `change` returns true, one at a time across processes. Errors: `DamagedStore`; file system. */
  change(change: (users: Users) => boolean): Promise<void>
}

/** Opens the store at a path. The disk is not touched before the first call. */
export function openRoleStore(path: string): RoleStore {
  let last: Promise<unknown> = Promise.resolve()
  const read = async (): Promise<Users> => {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    return text === null ? new Map() : parseStore(text)
  }
  const apply = async (change: (users: Users) => boolean) => {
    if (!change(await read())) return
    await mkdir(dirname(path), { recursive: true })
    await withFileLock(`${path}.lock`, async (lock) => {
      const users = await read()
      if (change(users)) await replace(path, renderStore(users), lock)
    })
  }
  return {
    read,
    change(change) {
      const done = last.then(() => apply(change))
      last = done.catch(() => {})
      return done
    },
  }
}

/** Replaces the file atomically: readers, and a restart after a crash, find the old or the new one. */
async function replace(path: string, text: string, lock: HeldLock): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (!(await lock.isHeld())) throw new Error('The lock of the role store was taken by another process.')
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** One user of the store, as the API returns it. */
const User = v.object({
  id: v.string(),
  email: v.nullish(v.string(), null),
  name: v.nullish(v.string(), null),
  roles: v.array(v.string()),
})
type User = v.InferOutput<typeof User>
export type Users = Map<string, User>

// `v.record` would drop names like `constructor`, and with them users.
const document = v.object({
  users: v.custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
})

/** Thrown when the file is no role store. The message holds nothing of the content. */
export class DamagedStore extends Error {
  override readonly name = 'DamagedStore'
}

/** Parses the text of a role store. Errors: `DamagedStore`. */
function parseStore(text: string): Users {
  const json = parseJson(text)
  if (json === undefined) throw new DamagedStore('the file is no JSON')
  const parsed = v.safeParse(document, json)
  if (!parsed.success) throw new DamagedStore('it holds no users')
  return new Map(Object.entries(parsed.output.users).map(([key, value]) => [key, readUser(value)]))
}

function readUser(value: unknown): User {
  const parsed = v.safeParse(User, value)
  if (!parsed.success)
    throw new DamagedStore(`the ${v.getDotPath(parsed.issues[0]) ?? 'record'} of a user has another form`)
  return parsed.output
}

/** Renders the file with sorted keys and indentation, so that two states can be compared line by line. */
function renderStore(users: Users): string {
  const sorted = [...users].sort(([a], [b]) => (a < b ? -1 : 1))
  const entries = sorted.map(
    ([key, { email, id, name, roles }]) => [key, { email, id, name, roles: [...roles].sort() }] as const,
  )
  return `${JSON.stringify({ users: Object.fromEntries(entries) }, null, 2)}\n`
}

/** The assignable roles. They have no effect on the core. */
export const ROLES = [
  { name: 'admin', description: 'Manages the users and roles of this service.' },
  { name: 'user', description: 'Uses the platform.' },
] as const

export const isRole = (name: string): boolean => ROLES.some((role) => role.name === name)
export const holdsAdmin = (users: Users, id: string): boolean => users.get(id)?.roles.includes('admin') ?? false

/** Gives a role to a user, who is created if needed. Like the functions below, reports whether anything changed. */
export function assignRole(users: Users, id: string, role: string, email: string | null = null): boolean {
  const existing = users.get(id)
  if (existing?.roles.includes(role)) return false
  const user: User = existing ?? { id, email, name: null, roles: [] }
  users.set(id, { ...user, roles: [...user.roles, role] })
  return true
}

export function revokeRole(users: Users, id: string, role: string): boolean {
  const existing = users.get(id)
  if (!existing?.roles.includes(role)) return false
  users.set(id, { ...existing, roles: existing.roles.filter((name) => name !== role) })
  return true
}

/** Creates the record of a caller, or adds a missing e-mail address to it. */
export function noticeUser(users: Users, id: string, email: string | null): boolean {
  const existing = users.get(id)
  if (existing && (existing.email !== null || email === null)) return false
  users.set(id, existing ? { ...existing, email } : { id, email, name: null, roles: [] })
  return true
}

/** Age of an abandoned lock: holders need milliseconds. Used only for holders on another host or in a container. */
const STALE_MS = 4_000

interface HeldLock {
  /** Reports whether the lock is still the holder's. A suspended holder may have lost it to another host. */
  isHeld(): Promise<boolean>
}

/** The process that holds a lock, as the lock file names it. */
const Holder = v.object({ host: v.string(), pid: v.number(), started: v.string() })
type Holder = v.InferOutput<typeof Holder>

/**
 * Runs `work` under the lock file, one process at a time.
 * Errors: `The role store stays locked by another process.` after five seconds; those of `work`.
 */
export async function withFileLock<T>(path: string, work: (lock: HeldLock) => Promise<T>): Promise<T> {
  const deadline = performance.now() + 5_000
  let own = await tryLock(path)
  while (own === null) {
    if (performance.now() > deadline) throw new Error('The role store stays locked by another process.')
    const found = await identify(path)
    if (found?.isStale) await removeLock(path, found.name)
    await sleep(20)
    own = await tryLock(path)
  }
  const name = own
  try {
    return await work({ isHeld: async () => (await identify(path))?.name === name })
  } finally {
    await removeLock(path, name)
  }
}

/** Creates the lock file and returns its identity; null when it exists already. */
async function tryLock(path: string): Promise<string | null> {
  const handle = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null
    throw error
  })
  if (!handle) return null
  try {
    await handle.writeFile(JSON.stringify({ host: hostname(), ...identifyProcess(process.pid) } satisfies Holder))
    return nameOf(await handle.stat({ bigint: true }))
  } finally {
    await handle.close()
  }
}

/** Returns the identity that distinguishes a lock file from a later one at the same path. */
const nameOf = ({ ino, mtimeNs }: BigIntStats): string => `${ino.toString(36)}-${mtimeNs.toString(36)}`

/** Returns the identity of a lock file and whether its holder is gone; null when there is none. */
async function identify(path: string): Promise<{ name: string; isStale: boolean } | null> {
  const entry = await lstat(path, { bigint: true }).catch(() => null)
  if (!entry) return null
  const holder = entry.isFile() ? await readHolder(path) : null
  const isOld = Date.now() - Number(entry.mtimeMs) > STALE_MS
  const isKnown = holder?.host === hostname() && holder.started !== ''
  return { name: nameOf(entry), isStale: entry.isFile() && (isKnown ? !isAlive(holder) : isOld) }
}

/** Reads the holder that a lock file names; null for one that is being written. */
async function readHolder(path: string): Promise<Holder | null> {
  const parsed = v.safeParse(Holder, parseJson(await readFile(path, 'utf8').catch(() => '')))
  return parsed.success ? parsed.output : null
}

/**
 * Removes the lock of this identity, and never one that has taken its place: only the creator of the claim file, which
 * has the identity in its name, may remove that lock, be it the holder at its end or another process that found the lock
 * stale. As long as the lock is there, nobody else can put another one in its place.
 */
async function removeLock(path: string, name: string): Promise<void> {
  const claim = `${path}.${name}`
  if ((await tryLock(claim)) === null) {
    if ((await identify(claim))?.isStale) await rm(claim, { force: true })
    return
  }
  try {
    if ((await identify(path))?.name === name) await rm(path, { force: true })
  } finally {
    await rm(claim, { force: true })
  }
}
