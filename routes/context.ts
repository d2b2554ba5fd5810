import type { Context } from '../src/context.ts'
import type { StatusHub } from '../src/sessions/events/hub.ts'

/** The context of the core, which adds what only the process with the HTTP interface has. */
export interface CoreContext extends Context {
  events: StatusHub
  /** Reads a file of the documentation pages by its name; null when there is no such file. */
  asset: (name: string) => Promise<{ body: Uint8Array<ArrayBuffer>; content_type: string } | null>
}
