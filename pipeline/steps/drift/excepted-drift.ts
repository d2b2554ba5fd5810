import { type Exceptions, filterDriftExceptions } from '../../../src/chains/filter-drift-exceptions.ts'
import { namesAddress } from '../../../src/plan/addresses.ts'
import type { DriftOperation } from '../../../src/plan/drift.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'

/** Records which drift is excepted, by the addresses in the prose that the exception filter returns. */
export interface ExceptionLedger {
  /** Notes of the filter on omissions and their reasons, without duplicates. */
  readonly notes: string[]
  /** Records one pass of the filter: its drift, and the operations that were sent to the filter. */
  recordPass(drift: readonly DriftOperation[], sent: readonly string[], exceptions: Exceptions): void
  /** Sorts drift by the passes; `undecided` when unseen, changed by the filter, or without its address. */
  sortDrift(drift: readonly DriftOperation[]): Record<'covered' | 'open' | 'undecided', DriftOperation[]>
}

export function createExceptionLedger(): ExceptionLedger {
  const notes: string[] = []
  const decided = new Map<string, 'covered' | 'open'>()
  return {
    notes,
    recordPass: (drift, sent, { answered, note }) => {
      if (note !== null && !notes.includes(note)) notes.push(note)
      const kept = sent.filter((text) => answered.includes(text))
      const dropped = sent.filter((text) => !answered.includes(text))
      const trimmed = answered.filter((text) => !sent.includes(text))
      for (const operation of drift) {
        const { address } = operation
        const key = JSON.stringify(operation)
        decided.delete(key)
        if (trimmed.some((text) => isVague(text, drift) || namesAddress(text, address))) continue
        if (kept.some((text) => namesAddress(text, address))) decided.set(key, 'open')
        else if (dropped.some((text) => namesAddress(text, address))) decided.set(key, 'covered')
      }
    },
    sortDrift: (drift) => {
      const sorted: ReturnType<ExceptionLedger['sortDrift']> = { covered: [], open: [], undecided: [] }
      for (const operation of drift) sorted[decided.get(JSON.stringify(operation)) ?? 'undecided'].push(operation)
      return sorted
    },
  }
}

/** Lets a model filter drift as JSON, one entry per address. A reply without an address covers nothing. */
export async function findCoveredDrift(
  kit: Kit,
  drift: readonly DriftOperation[],
): Promise<{ covered: DriftOperation[]; note: string | null }> {
  if (drift.length === 0) return { covered: [], note: null }
  const sent = drift.map((operation) => JSON.stringify(operation))
  const { answered, note } = await runChain(kit, filterDriftExceptions, { operations: sent })
  if (answered.some((text) => isVague(text, drift))) return { covered: [], note: null }
  const covered = drift.filter(
    ({ address }, index) =>
      !answered.includes(sent[index] ?? '') && !answered.some((text) => namesAddress(text, address)),
  )
  return { covered, note: covered.length > 0 ? note : null }
}

/** True if a text names none of the addresses, so that it could be about any of them. */
const isVague = (text: string, drift: readonly DriftOperation[]) =>
  !drift.some(({ address }) => namesAddress(text, address))
