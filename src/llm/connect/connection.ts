import type { LlmConfig } from '../../../config/types.ts'
import { CredentialError } from '../../aws/credentials.ts'
import type { Fetch } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import { CallFailure } from '../failure.ts'
import { GoogleTokenError } from '../google-credentials.ts'
import type { Quirks } from '../quirks.ts'
import type { Wire } from '../wire/wire.ts'
import type { Authorize, WireOptions } from '../wire/wire-fetch.ts'

export interface LlmTools {
  fetch: Fetch
  log: Logger
  /** Reads a credentials file; null when there is none. Throws when it cannot be read. */
  readFile: (path: string) => Promise<string | null>
  /** Returns the current time in milliseconds. */
  now: () => number
}

/** The entry of `model_list`, or the bare model string, that is connected. */
export interface ModelEntry {
  /** `<provider>/<model-id>` as configured. */
  model: string
  modelId: string
  /** Returns a parameter of the entry with `os.environ/` references resolved; undefined when absent or empty. */
  param(name: string): string | undefined
  /** Returns the first of these environment variables that is set and not empty, else undefined. */
  variable(...names: string[]): string | undefined
  config: Pick<LlmConfig, 'aws' | 'google_credentials_file'>
  tools: LlmTools
}

/** The connection to one model at one address. */
export interface Connection {
  base_url: string
  /** The name of the model at the provider. */
  modelId: string
  wire: Wire
  /** The key that the library sends as bearer; absent when `authorize` makes the headers. */
  key?: string
  authorize?: Authorize
  address?: WireOptions['address']
  quirks: Quirks
  organization?: string
  /** Values that must not appear in texts. The list grows when tokens are renewed. */
  secrets: string[]
}

/** A model cannot be called as configured. The message is shown after the name of the model. */
export class Unconfigured extends Error {
  override readonly name = 'Unconfigured'
}

/** Converts a credential error to a failed attempt. */
export function throwCredentialFailure(error: unknown): never {
  if (!(error instanceof CredentialError || error instanceof GoogleTokenError)) throw error
  throw new CallFailure(error.message, 502, { retryable: error.transient, cause: error })
}

/** Returns the address without trailing slashes, with `defaultPath` appended if it has no path. */
export function baseUrl(configured: string, defaultPath = ''): string {
  const bare = configured.replace(/\/+$/, '')
  return /^[a-z]+:\/\/[^/]+\/./i.test(bare) ? bare : `${bare}${defaultPath}`
}

export const sameHost = (a: string, b: string): boolean =>
  URL.canParse(a) && URL.canParse(b) && new URL(a).host === new URL(b).host

/** A provider that offers chat completions with its key as bearer token. */
export interface PlainProvider {
  /** The prefix in `<provider>/<model-id>`. */
  name: string
  aliases?: readonly string[]
  /** Matches model ids that belong to this provider even without its prefix. */
  bare?: RegExp
  /** Null when there is no public server, so that an address must be configured. */
  base_url: string | null
  /** The path that is appended to a configured address without one. */
  defaultPath?: string
  /** Variables of the address, of which the first set one counts. Default `<NAME>_API_BASE`. */
  baseUrlVariables?: readonly string[]
  /** Variables of the key, of which the first set one counts. Default `<NAME>_API_KEY`. */
  keyVariables?: readonly string[]
  organizationVariable?: string
  /** True if servers are often self-hosted and need no key. */
  keyOptional?: boolean
  quirks?: (modelId: string) => Partial<Quirks>
}
