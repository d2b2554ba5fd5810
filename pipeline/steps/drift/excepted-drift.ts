import { type Exceptions, filterDriftExceptions } from '../../../src/chains/filter-drift-exceptions.ts'
import { namesAddress } from '../../../src/plan/addresses.ts'
import type { DriftOperation } from '../../../src/plan/drift.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'

/** Remembers which drift the exception rules cover: the filter speaks of operations in prose, a report of addresses. */
export interface ExceptionLedger {
  /** What was left out and why, each text once. */
  readonly notes: string[]
  /** Takes down one pass of the filter: the drift it was about, what it was sent and what it answered. */
  note(drift: readonly DriftOperation[], sent: readonly string[], exceptions: Exceptions): void
  /** Drift that the passes decided on as it stands; `undecided` was never seen, or trimmed, or not named. */
  sort(drift: readonly DriftOperation[]): Record<'covered' | 'open' | 'undecided', DriftOperation[]>
}

export function createExceptionLedger(): ExceptionLedger {
  const notes: string[] = []
  const decided = new Map<string, 'covered' | 'open'>()
  return {
    notes,
    note: (drift, sent, { answered, note }) => {
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
    sort: (drift) => {
      const sorted: ReturnType<ExceptionLedger['sort']> = { covered: [], open: [], undecided: [] }
      for (const operation of drift) sorted[decided.get(JSON.stringify(operation)) ?? 'undecided'].push(operation)
      return sorted
    },
  }
}

/** Asks the filter about drift itself, one entry for each address, so that the answer can be read without doubt. */
export async function coveredByRules(
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

/** An entry that names no address could mean any. */
const isVague = (text: string, drift: readonly DriftOperation[]) =>
  !drift.some(({ address }) => namesAddress(text, address))
