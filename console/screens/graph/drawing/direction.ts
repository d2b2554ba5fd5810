type Direction = 'left' | 'right' | 'up' | 'down'
interface Place {
  x: number
  y: number
}

const KEYS: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
}

export const directionOf = (key: string): Direction | null => KEYS[key] ?? null

/** The weight of a sideways distance relative to one straight ahead. */
const SIDEWAYS = 3

/** Returns the place next to another one in a direction; null at the edge. */
export function nextPlace(places: readonly Place[], from: number, direction: Direction): number | null {
  const start = places[from]
  if (!start) return null
  const isAcross = direction === 'left' || direction === 'right'
  const sign = direction === 'left' || direction === 'up' ? -1 : 1
  let best: number | null = null
  let least = Number.POSITIVE_INFINITY
  for (const [index, { x, y }] of places.entries()) {
    const ahead = sign * (isAcross ? x - start.x : y - start.y)
    if (index === from || ahead <= 0) continue
    const distance = ahead + SIDEWAYS * Math.abs(isAcross ? y - start.y : x - start.x)
    if (distance < least) {
      least = distance
      best = index
    }
  }
  return best
}
