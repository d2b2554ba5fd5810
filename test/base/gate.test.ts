import { describe, expect, it } from 'vitest'
import { allInOrder, createGate } from '../../src/base/gate.ts'

const gateOf = (changes: Partial<Parameters<typeof createGate>[0]> = {}) =>
  createGate({ atOnce: 2, waiting: 2, waitMs: 5_000, busy: 'come back later', ...changes })

/** Makes work that ends on request. */
function workOf() {
  const started: number[] = []
  const ends: (() => void)[] = []
  const start = (index: number) => () =>
    new Promise<number>((resolve) => {
      started.push(index)
      ends[index] = () => resolve(index)
    })
  return { started, ends, start }
}
const turn = () => new Promise((resolve) => setTimeout(resolve, 0))

describe('gate', () => {
  it('lets so many run, so many wait in order, and refuses the others', async () => {
    const [gate, { started, ends, start }] = [gateOf(), workOf()]
    const all = [0, 1, 2, 3].map((index) => gate.run(start(index)))
    await expect(gate.run(start(4))).rejects.toMatchObject({
      status: 503,
      message: 'come back later',
      retryAfterSeconds: 5,
    })
    expect(started).toEqual([0, 1])
    ends[1]?.()
    await turn()
    expect(started).toEqual([0, 1, 2])
    ends[0]?.()
    await turn()
    ends[2]?.()
    ends[3]?.()
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3])
  })

  it('gives the place of failed work on', async () => {
    const gate = gateOf({ atOnce: 1 })
    await expect(gate.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await gate.run(async () => 'next')).toBe('next')
  })

  it('refuses who has waited too long or has gone away, and keeps the queue right', async () => {
    const [gate, { started, ends, start }] = [gateOf({ atOnce: 1, waitMs: 30 }), workOf()]
    const first = gate.run(start(0))
    const gone = new AbortController()
    const leaving = gate.run(start(1), gone.signal)
    const waiting = gate.run(start(2))
    gone.abort()
    await expect(leaving).rejects.toMatchObject({ status: 503 })
    await expect(waiting).rejects.toMatchObject({ status: 503 })
    ends[0]?.()
    expect(await first).toBe(0)
    expect(await gate.run(async () => 'free')).toBe('free')
    expect(started).toEqual([0])
    const last = gate.run(start(3))
    await expect(gate.run(start(4), AbortSignal.abort())).rejects.toMatchObject({ status: 503 })
    ends[3]?.()
    expect(await last).toBe(3)
  })
})

describe('work that is awaited together', () => {
  it('gives its results in order', async () => {
    expect(await allInOrder([Promise.resolve(1), Promise.resolve('two')])).toEqual([1, 'two'])
  })

  it('fails when all of it has ended, with the first failure of the list', async () => {
    const last = Promise.withResolvers<void>()
    const order: string[] = []
    const first = last.promise.then(() => Promise.reject(new Error('first')))
    const second = Promise.reject(new Error('second'))
    const failed = allInOrder([first, second]).catch((error: Error) => order.push(error.message))
    await turn()
    order.push('still at work')
    last.resolve()
    await failed
    expect(order).toEqual(['still at work', 'first'])
  })
})
