import { useState } from 'preact/hooks'
import { createDrafts } from '../../client/drafts.ts'
import { choose, type Item, unchoose } from './inventory.ts'

interface Kept {
  ids: string[]
  sentence: string
}

/** What somebody has chosen and written, kept for this tab. */
export interface Choice {
  chosen: ReadonlySet<string>
  sentence: string
  /** So many were asked for beyond what one request takes. */
  left: number
  /** Why the platform refused single resources the last time. */
  refused: ReadonlyMap<string, string>
  add: (items: readonly Item[]) => void
  drop: (ids: Iterable<string>) => void
  say: (sentence: string) => void
  refuse: (refused: ReadonlyMap<string, string>) => void
  clear: () => void
}

const NONE: ReadonlyMap<string, string> = new Map()

export function useChoice(sessionId: string): Choice {
  const name = `import.${sessionId}`
  const [kept] = useState(() => readKept(createDrafts().read<Partial<Kept>>(name)))
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(kept.ids))
  const [sentence, setSentence] = useState(kept.sentence)
  const [left, setLeft] = useState(0)
  const [refused, setRefused] = useState(NONE)
  const keep = (ids: ReadonlySet<string>, text: string) => {
    setChosen(ids)
    setSentence(text)
    createDrafts().write(name, { ids: [...ids], sentence: text } satisfies Kept)
  }
  return {
    ...{ chosen, sentence, left, refused },
    add: (items) => {
      const next = choose(chosen, items)
      setLeft(next.left)
      keep(next.chosen, sentence)
    },
    drop: (ids) => {
      setLeft(0)
      keep(unchoose(chosen, ids), sentence)
    },
    say: (text) => keep(chosen, text),
    refuse: setRefused,
    clear: () => {
      setLeft(0)
      setRefused(NONE)
      setChosen(new Set<string>())
      setSentence('')
      createDrafts().remove(name)
    },
  }
}

function readKept(kept: Partial<Kept> | null): Kept {
  const ids = Array.isArray(kept?.ids) ? kept.ids.filter((id) => typeof id === 'string') : []
  return { ids, sentence: typeof kept?.sentence === 'string' ? kept.sentence : '' }
}
