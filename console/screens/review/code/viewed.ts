import { useState } from 'preact/hooks'

const keyOf = (sessionId: string, round: number) => `platform.viewed.${sessionId}.${round}`

/** Which files of a round somebody has looked at, kept as long as the tab is open. */
export function useViewed(sessionId: string, round: number) {
  const key = keyOf(sessionId, round)
  const [all, setAll] = useState<Record<string, readonly string[]>>({})
  const names = all[key] ?? readKept(key)
  const mark = (name: string, viewed: boolean) => {
    const kept = viewed ? [...new Set([...names, name])] : names.filter((other) => other !== name)
    setAll((before) => ({ ...before, [key]: kept }))
    try {
      sessionStorage.setItem(key, JSON.stringify(kept))
    } catch {
      // A full or forbidden storage costs the mark at the next visit, and nothing now.
    }
  }
  return { names, mark }
}

function readKept(key: string): string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? '[]')
    return Array.isArray(kept) ? kept.filter((name) => typeof name === 'string') : []
  } catch {
    return []
  }
}
