import { useState } from 'preact/hooks'
import { useDraft } from '../../client/drafts.ts'
import { choose, type Item, unchoose } from './inventory.ts'

/** The selected resources and the typed sentence, stored for this tab. */
export interface Choice {
  chosen: ReadonlySet<string>
  sentence: string
  /** The number of selected resources beyond the limit of one request. */
  left: number
  /** The reasons of the last refusal, by resource id. */
  refused: ReadonlyMap<string, string>
  add: (items: readonly Item[]) => void
  drop: (ids: Iterable<string>) => void
  say: (sentence: string) => void
  refuse: (refused: ReadonlyMap<string, string>) => void
  clear: () => void
}

const NONE: ReadonlyMap<string, string> = new Map()

export function useChoice(sessionId: string): Choice {
  const { value, change, clear } = useDraft<{ ids: string[]; sentence: string }>(`import.${sessionId}`, {
    ids: [],
    sentence: '',
  })
  const [left, setLeft] = useState(0)
  const [refused, setRefused] = useState(NONE)
  const chosen = new Set(value.ids)
  const select = (ids: ReadonlySet<string>, missed: number) => {
    setLeft(missed)
    change({ ids: [...ids] })
  }
  return {
    ...{ chosen, sentence: value.sentence, left, refused },
    add: (items) => {
      const next = choose(chosen, items)
      select(next.chosen, next.left)
    },
    drop: (ids) => select(unchoose(chosen, ids), 0),
    say: (sentence) => change({ sentence }),
    refuse: setRefused,
    clear: () => {
      setLeft(0)
      setRefused(NONE)
      clear()
    },
  }
}
