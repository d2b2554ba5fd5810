import type { RefusalCounter } from '../src/access/audit/refusals.ts'
import type { Context } from '../src/context.ts'
import type { ConsoleFiles } from '../src/data/console-files.ts'
import type { EventHub } from '../src/events/hub.ts'

/** The context of the core, with additions for its HTTP interface. */
export interface CoreContext extends Context {
  events: EventHub
  /** Passed in by the process, which flushes it at shutdown; by default the application creates its own. */
  refusals?: RefusalCounter
  /** Reads a file of the documentation pages by name; null when there is no such file. */
  asset: (name: string) => Promise<{ body: Uint8Array<ArrayBuffer>; content_type: string } | null>
  /** The built console; absent if it is disabled or was not built. */
  console?: ConsoleFiles | null
}
