import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { systemCode } from '../../../config/document.ts'
import type { Fetch } from '../../../src/base/http.ts'
import type { Logger } from '../../../src/base/log.ts'

/** The inputs and means of the discovery of one scope. */
export interface InventoryRequest {
  scopeId: string
  /** Environment of the service: credentials, regions, endpoint overrides. */
  env: Readonly<Record<string, string | undefined>>
  fetch: Fetch
  /** Fires at the time limit of the job or when the service stops. */
  signal: AbortSignal
  log: Logger
  now: () => Date
  /** Milliseconds before the first retry, doubled with each further one. Default 500. */
  backoffMs?: number
}

/** Lists the identifiers of all manageable objects in a scope. Errors: `InventoryError`, shown to the user. */
export type Inventory = (request: InventoryRequest) => Promise<string[]>

/** Thrown when a discovery cannot be completed. The message names the source and holds no credentials. */
export class InventoryError extends Error {
  override readonly name: string = 'InventoryError'
}

/** Thrown when a cloud answers with a status that is no success. */
export class RefusedError extends InventoryError {
  override readonly name = 'RefusedError'
  readonly status: number
  /** The cloud's own name of the error, such as `AccessDenied`; empty when the answer has none. */
  readonly code: string
  constructor(source: string, status: number, code: string, message: string) {
    super(`${status} from ${source}: ${message}`)
    this.status = status
    this.code = code
  }
}

export type Env = InventoryRequest['env']

/** Returns the first of these variables that is not blank. */
export function setting(env: Env, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = env[name]?.trim()
    if (value) return value
  }
  return undefined
}

/** Reports whether a switch is on, in the words that the engine's providers accept. */
export const isOn = (env: Env, name: string): boolean => /^(true|1|yes|on)$/i.test(env[name]?.trim() ?? '')

/** Resolves a path that begins in the home folder. */
export const atHome = (path: string, env: Env): string =>
  path.startsWith('~/') ? join(env.HOME ?? '', path.slice(2)) : path

/** Reads the file of a setting. Errors name the setting and not the path, which may be private. */
export async function readNamed(path: string, settingName: string, env: Env): Promise<Buffer> {
  try {
    return await readFile(atHome(path, env))
  } catch (error) {
    throw new InventoryError(`the file that ${settingName} names cannot be read${systemCode(error)}`)
  }
}

export async function readNamedText(path: string, settingName: string, env: Env): Promise<string> {
  const text = (await readNamed(path, settingName, env)).toString('utf8').trim()
  if (text === '') throw new InventoryError(`the file that ${settingName} names is empty`)
  return text
}

/** Parses an RSA key in PEM; null for any other text, because a message of the parser may quote a part of the key. */
export function parseRsaKey(key: string, passphrase?: string): KeyObject | null {
  try {
    const parsed = createPrivateKey({ key, ...(passphrase ? { passphrase } : {}) })
    return parsed.asymmetricKeyType === 'rsa' ? parsed : null
  } catch {
    return null
  }
}

/** Host names of this machine, as a URL has them. */
export const LOOPBACK: RegExp = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Checks an address that receives credentials (https, or http on this machine) and drops a trailing slash. */
export function serviceUrl(value: string, name: string): string {
  const url = URL.parse(value)
  if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname))))
    throw new InventoryError(`${name} is not an https address`)
  return value.replace(/\/+$/, '')
}

export function checkShape<Schema extends v.GenericSchema>(
  source: string,
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value)
  if (parsed.success) return parsed.output
  const path = v.getDotPath(parsed.issues[0])
  throw new InventoryError(`${source} gave an answer of an unknown form${path ? `, at ${path.slice(0, 100)}` : ''}`)
}

/** Reads a file; null when it is missing, throws when it cannot be read. */
export const readFileIfAny = (path: string): Promise<string | null> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
