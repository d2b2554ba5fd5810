import type { LlmConfig } from '../../../config/types.ts'
import type { Fetch } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import type { Quirks } from '../quirks.ts'
import type { Wire } from '../wire/types.ts'
import type { Authorize, WireOptions } from '../wire/wire-fetch.ts'

export interface LlmTools {
  fetch: Fetch
  log: Logger
  /** For files of credentials: null when there is none at the path, throws when it cannot be read. */
  read_file: (path: string) => Promise<string | null>
  now: () => number
}

/** What a row of the table gets to know of an entry. */
export interface ModelEntry {
  /** `<provider>/<model-id>` as configured. */
  model: string
  model_id: string
  /** A parameter of the entry, references resolved; undefined when absent or empty. */
  param(name: string): string | undefined
  /** A variable; undefined when unset or empty. */
  variable(...names: string[]): string | undefined
  config: Pick<LlmConfig, 'aws' | 'google_credentials_file'>
  tools: LlmTools
}

/** One model at one address. */
export interface Connection {
  base_url: string
  /** As the provider calls it. */
  model_id: string
  wire: Wire
  /** Bearer key for the library; absent with `authorize`. */
  key?: string
  authorize?: Authorize
  address?: WireOptions['address']
  quirks: Quirks
  organization?: string
  /** Literal values that must not show; may grow. */
  secrets: string[]
}

/** What keeps a model from being called at all. The message is shown behind the model's name. */
export class Unconfigured extends Error {
  override readonly name = 'Unconfigured'
}

/** An address without trailing slashes; the usual path is added to one that has none. */
export function baseUrl(configured: string, defaultPath = ''): string {
  const bare = configured.replace(/\/+$/, '')
  return /^[a-z]+:\/\/[^/]+\/./i.test(bare) ? bare : `${bare}${defaultPath}`
}

export const sameHost = (a: string, b: string): boolean =>
  URL.canParse(a) && URL.canParse(b) && new URL(a).host === new URL(b).host
