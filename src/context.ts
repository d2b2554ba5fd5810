import type { Config } from '../config/types.ts'
import type { Fetch } from './base/http.ts'
import type { Logger } from './base/log.ts'
import type { Cache } from './data/cache/types.ts'
import type { Sql } from './data/db/types.ts'
import type { RoundQueue } from './data/queue/types.ts'
import type { ObjectStore } from './data/storage/types.ts'
import type { LlmClient } from './llm/types.ts'
import type { PlatformMetrics } from './observe/metrics.ts'
import type { RoundRecorder } from './observe/round-recorder.ts'
import type { Tracing } from './observe/trace-types.ts'
import type { PromptSource } from './prompts/source.ts'
import type { HostResolver, PinnedFetch } from './repository/allowed-addresses.ts'
import type { IacClient } from './services/iac/types.ts'

/**
 * Everything a verb may need, built once per process by the entry and passed in. No module holds a
 * client of its own.
 */
export interface Context {
  config: Config
  log: Logger
  fetch: Fetch
  sql: Sql
  cache: Cache
  queue: RoundQueue
  storage: ObjectStore
  /** The bucket of managed engine state; absent when repositories declare their own backend. */
  state_store?: Pick<ObjectStore, 'get'>
  prompts: PromptSource
  llm: LlmClient
  iac: IacClient
  resolver: HostResolver
  /** For hosts that a caller names; without it `fetch` is used. */
  pinnedFetch?: PinnedFetch
  now: () => Date
  /** Absent where nobody asks for figures. */
  metrics?: PlatformMetrics
  /** Absent where nobody collects spans. */
  tracing?: Tracing
  /** Absent where no model traffic is kept. */
  recorder?: RoundRecorder
}
