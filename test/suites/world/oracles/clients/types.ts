import type { Understood } from '../conversation.ts'
import type { Ours } from '../exchange.ts'
import type { Loose } from '../sdks.ts'

/** A provider with its own client, and the conversation of `conversation.ts` in that client's words. */
export interface Oracle {
  name: string
  ours: Ours
  /** An answer as documented: a text, two calls side by side, and whatever the model wants back with them. */
  called: unknown
  /** Sends system text, question and tools; answers what the client answers. */
  begin(options?: { maxRetries?: number }): Promise<Loose>
  /** Sends the conversation once more with that answer and the results of its calls. */
  goOn(answer: Loose): Promise<Loose>
  read(answer: Loose): Understood
  /** Headers that must be equal; `content-type` is always compared. */
  headers: readonly string[]
  /** The places in which the two may differ, as patterns of `path` in the body or of `url`, with the reason. */
  allowed: Record<string, string>
}
