import { useState } from 'preact/hooks'
import { readStored, writeStored } from '../../../client/stored.ts'
import { type AnySearch, useAnySearch, useSearchChange } from '../../../client/use-address.ts'
import { useMedia } from '../../../ui/use-media.ts'

/** Returns the place in the code that the address names: `?part=code&file=main.tf&line=12&attempt=2`. */
export function usePlace() {
  const { file, line, attempt, round } = useAnySearch()
  const change = useSearchChange()
  const number = (value: unknown) => (Number.isInteger(Number(value)) && Number(value) > 0 ? Number(value) : null)
  const go = (place: Pick<AnySearch, 'file' | 'line' | 'attempt'>) =>
    change({ file: undefined, line: undefined, ...place })
  const href = (name: string, line?: number) => {
    const query = new URLSearchParams({ part: 'code', file: name })
    if (round !== undefined) query.set('round', String(round))
    if (line !== undefined) query.set('line', String(line))
    return `?${query}`
  }
  return {
    file: file === undefined ? null : String(file),
    line: number(line),
    attempt: number(attempt),
    go,
    href,
  }
}

export type Layout = 'unified' | 'split'

const KEY = 'platform.code-layout'
/** The minimum width for two versions side by side. */
const WIDE = '(min-width: 70rem)'

/** Returns the layout of diffs in this browser. A narrow screen always shows one version below the other. */
export function useLayout() {
  const [chosen, setChosen] = useState<Layout>(() => (readStored(localStorage, KEY) === 'split' ? 'split' : 'unified'))
  const wide = useMedia(WIDE)
  const choose = (layout: Layout) => {
    setChosen(layout)
    writeStored(localStorage, KEY, layout)
  }
  return { layout: wide ? chosen : 'unified', wide, choose } as const
}

/** Returns the names of the viewed files of a round, stored for this tab. */
export function useViewed(sessionId: string, round: number) {
  const key = `platform.viewed.${sessionId}.${round}`
  const [all, setAll] = useState<Record<string, readonly string[]>>({})
  const stored = readStored(sessionStorage, key)
  const names = all[key] ?? (Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : [])
  const mark = (name: string, viewed: boolean) => {
    const kept = viewed ? [...new Set([...names, name])] : names.filter((other) => other !== name)
    setAll((before) => ({ ...before, [key]: kept }))
    writeStored(sessionStorage, key, kept)
  }
  return { names, mark }
}
