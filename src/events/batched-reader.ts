import type { SessionState } from './types.ts'

type States = Map<string, SessionState>

/**
 * Reads states in batches, one query at a time: whatever is asked for while a query runs is answered
 * together by the next one. So every answer is at least as new as its question, and answers never
 * overtake each other.
 * @param apply called with each batch before its askers are
 */
export function createBatchedReader(
  read: (uuids: string[]) => Promise<States>,
  apply: (asked: ReadonlySet<string>, states: States) => void,
): (uuids: Iterable<string>) => Promise<States> {
  let next: { asked: Set<string>; answer: PromiseWithResolvers<States> } | null = null
  let busy = false

  const drain = async () => {
    if (busy) return
    busy = true
    for (let batch = next; batch !== null; batch = next) {
      next = null
      try {
        const states = await read([...batch.asked])
        apply(batch.asked, states)
        batch.answer.resolve(states)
      } catch (error) {
        batch.answer.reject(error)
      }
    }
    busy = false
  }
  return (uuids) => {
    const batch = next ?? { asked: new Set(), answer: Promise.withResolvers() }
    next = batch
    for (const uuid of uuids) batch.asked.add(uuid)
    void drain()
    return batch.answer.promise
  }
}
