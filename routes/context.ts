import type { RefusalCounter } from '../src/access/audit/refusals.ts'
import type { Context } from '../src/context.ts'
import type { ConsoleFiles } from '../src/data/console-files.ts'
import type { EventHub } from '../src/events/hub.ts'

/** The context of the core, which adds what only the process with the HTTP interface has. */
export interface CoreContext extends Context {
  events: EventHub
  /** The process gives it to flush it at its end; without it the application makes its own. */
  refusals?: RefusalCounter
  /** Reads a file of the documentation pages by its name; null when there is no such file. */
  asset: (name: string) => Promise<{ body: Uint8Array<ArrayBuffer>; content_type: string } | null>
  /** The built console; absent where it is turned off or was not built. */
  console?: ConsoleFiles | null
}
