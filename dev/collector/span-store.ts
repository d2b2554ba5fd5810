import type { ReceivedSpan } from './read-spans.ts'

/** Keeps the latest spans in memory. */
export interface SpanStore {
  add(spans: readonly ReceivedSpan[]): void
  /** The spans of a session in the order in which they started. */
  ofSession(sessionId: string): ReceivedSpan[]
}

/** How many characters of attributes are kept in total. Beyond that the oldest spans are dropped. */
const MAX_CHARACTERS = 64 * 1024 * 1024

export function createSpanStore(maxCharacters = MAX_CHARACTERS): SpanStore {
  const kept: { span: ReceivedSpan; size: number }[] = []
  let total = 0
  return {
    add: (spans) => {
      for (const span of spans) {
        const size = JSON.stringify(span.attributes).length
        kept.push({ span, size })
        total += size
      }
      while (total > maxCharacters) total -= kept.shift()?.size ?? total
    },
    ofSession: (sessionId) =>
      kept
        .map(({ span }) => span)
        .filter(({ attributes }) => attributes['session.id'] === sessionId)
        .sort((a, b) => a.start_ms - b.start_ms),
  }
}
