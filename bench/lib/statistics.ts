/** The value below which `share` (0 to 1) of the samples lie, by the nearest-rank method; NaN without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  const rank = Math.max(0, Math.ceil(share * sorted.length) - 1)
  return sorted[rank] ?? Number.NaN
}

/** Rounds a figure for people: three significant digits below 100, no decimals above. */
export const roundFigure = (value: number): number =>
  Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))
