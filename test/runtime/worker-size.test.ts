import { describe, expect, it } from 'vitest'
import { roundsThatFit } from '../../src/runtime/worker-size.ts'

const GIB = 2 ** 30

describe('roundsThatFit', () => {
  it.each([
    [GIB / 4, 4],
    [GIB / 2, 12],
    [GIB, 37],
    [2 * GIB, 50],
    [64 * GIB, 50],
  ])('of %d bytes of memory', (bytes, rounds) => expect(roundsThatFit(bytes)).toBe(rounds))

  it('finds the memory of this machine by itself', () => expect(roundsThatFit()).toBeGreaterThanOrEqual(4))
})
