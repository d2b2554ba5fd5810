export const TIMESTAMPTZ = 1184

/** `2025-01-31 10:20:30.5+00` of a UTC session as `2025-01-31T10:20:30.500000Z`: always six digits, so that texts compare as times. */
export function toFixedTimestamp(raw: string): string {
  const [, day, time, fraction = ''] = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(raw) ?? []
  if (!day) throw new Error(`not a timestamp of a UTC session: ${raw}`)
  return `${day}T${time}.${fraction.padEnd(6, '0')}Z`
}
