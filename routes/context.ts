import type { Context } from '../src/context.ts'
import type { StatusHub } from '../src/sessions/events/hub.ts'

/** The core adds what only an HTTP process has. */
export interface CoreContext extends Context {
  events: StatusHub
  /** Files of the documentation pages, by name; null when there is no such file. */
  asset: (name: string) => Promise<{ body: Uint8Array<ArrayBuffer>; content_type: string } | null>
}
