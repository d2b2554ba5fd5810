import { describe, expect, it } from 'vitest'
import { countAt, createTimeline } from '../../../console/screens/replay/use-player.ts'

describe('createTimeline', () => {
  it('keeps short waits, shortens long ones and says how much is left out', () => {
    const times = ['2026-03-01T10:00:00.000Z', '2026-03-01T10:00:00.500Z', '2026-03-01T10:01:00.500Z']
    expect(createTimeline(times)).toEqual({ offsets: [0, 500, 2_500], left_out: 58_000 })
  })

  it('bears clocks that are set back, and what is no time', () => {
    expect(createTimeline(['2026-03-01T10:00:05Z', '2026-03-01T10:00:00Z', 'soon', '2026-03-01T10:00:01Z'])).toEqual({
      offsets: [0, 0, 0, 1_000],
      left_out: 0,
    })
  })
})

describe('countAt', () => {
  it('counts the events that have come', () => {
    const offsets = [0, 500, 500, 2_500]
    expect([-1, 0, 499, 500, 2_499, 2_500, 9_999].map((moment) => countAt(offsets, moment))).toEqual([
      0, 1, 1, 3, 3, 4, 4,
    ])
    expect(countAt([], 5)).toBe(0)
  })
})
