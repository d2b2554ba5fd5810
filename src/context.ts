import type { Config } from '../config/types.ts'
import type { Fetch } from './base/http.ts'
import type { Logger } from './base/log.ts'
import type { Cache } from './data/cache/cache.ts'
import type { Sql } from './data/db/sql.ts'
import type { RoundQueue } from './data/queue.ts'
import type { ObjectStore } from './data/storage/object-store.ts'
import type { StateKeySource } from './data/storage/state-keys.ts'
import type { LlmClient } from './llm/inference.ts'
import type { PlatformMetrics } from './observe/metrics.ts'
import type { Tracing } from './observe/tracing.ts'
import type { PromptSource } from './prompts/source.ts'
import type { HostResolver, PinnedFetch } from './repository/remote.ts'
import type { IacClient } from './services/iac/contract.ts'

/** The clients and settings of one process, created at its entry point and injected, so that tests can replace them. */
export interface Context {
  config: Config
  log: Logger
  fetch: Fetch
  sql: Sql
  cache: Cache
  queue: RoundQueue
  storage: ObjectStore
  /** The bucket of managed engine state; absent when repositories declare their own backend. */
  stateStore?: Pick<ObjectStore, 'get'> & Partial<Pick<ObjectStore, 'delete'>>
  /** Issues keys for the state of one project; absent when jobs get the configured keys. */
  stateKeys?: StateKeySource
  prompts: PromptSource
  llm: LlmClient
  iac: IacClient
  resolver: HostResolver
  /** A `fetch` that connects to checked addresses only, for hosts that a caller names; defaults to `fetch`. */
  pinnedFetch?: PinnedFetch
  now: () => Date
  /** Absent in tests that ignore metrics. */
  metrics?: PlatformMetrics
  /** Absent when neither a collector nor console output of spans is configured. */
  tracing?: Tracing
}
