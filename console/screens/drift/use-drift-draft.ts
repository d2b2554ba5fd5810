import { useState } from 'preact/hooks'
import { createDrafts } from '../../client/drafts.ts'

interface Kept {
  ticked: string[]
  sentence: string
}

export interface DriftDraft extends Kept {
  tick: (address: string, on: boolean) => void
  /** Also of resources that the report on the screen does not have. */
  untick: () => void
  say: (sentence: string) => void
  clear: () => void
}

const EMPTY: Kept = { ticked: [], sentence: '' }

/** What somebody ticked and wrote about a session, kept for this tab. */
export function useDriftDraft(sessionId: string): DriftDraft {
  const name = `drift.${sessionId}`
  const [kept, setKept] = useState<Kept>(() => ({ ...EMPTY, ...createDrafts().read<Kept>(name) }))
  const change = (next: Kept) => {
    setKept(next)
    createDrafts().write(name, next)
  }
  return {
    ...kept,
    tick: (address, on) => {
      const others = kept.ticked.filter((other) => other !== address)
      change({ ...kept, ticked: on ? [...others, address] : others })
    },
    untick: () => change({ ...kept, ticked: [] }),
    say: (sentence) => change({ ...kept, sentence }),
    clear: () => {
      setKept(EMPTY)
      createDrafts().remove(name)
    },
  }
}
