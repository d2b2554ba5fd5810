import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createReaders } from '../../src/events/readers.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const CHECK_MS = 4_000
/** Makes readers, and counts the checks of each key. `may` is the answer to all of them. */
function setUp(perUser = 0) {
  const readers = createReaders({ perUser, checkMs: CHECK_MS })
  const checks: string[] = []
  const given = { may: async () => true }
  const enter = (key: string, user_id = 1) =>
    readers.enter({
      user_id,
      key,
      mayRead: () => {
        checks.push(key)
        return given.may()
      },
    })
  return { enter, checks, given }
}

it('checks the streams of a key together, once in a period', async () => {
  const { enter, checks, given } = setUp()
  const [one, same, other] = [enter('a'), enter('a'), enter('b')]
  const ask = () => Promise.all([one, same, other].map(({ mayRead }) => mayRead()))
  expect([await ask(), checks]).toEqual([[true, true, true], []])
  for (let period = 0; period < 2; period++) {
    vi.advanceTimersByTime(CHECK_MS)
    await ask()
    await ask()
  }
  expect(checks).toEqual(['a', 'b', 'a', 'b'])
  given.may = async () => false
  expect(await ask()).toEqual([true, true, true])
  vi.advanceTimersByTime(CHECK_MS)
  expect(await ask()).toEqual([false, false, false])
})

it('passes a fault on, and asks again after it', async () => {
  const { enter, given } = setUp()
  const { mayRead } = enter('a')
  vi.advanceTimersByTime(CHECK_MS)
  given.may = () => Promise.reject(new Error('the database is away'))
  await expect(mayRead()).rejects.toThrow('away')
  vi.advanceTimersByTime(CHECK_MS)
  given.may = async () => true
  expect(await mayRead()).toBe(true)
})

it('counts the streams of each user', () => {
  const { enter } = setUp(2)
  const [first] = [enter('a'), enter('b')]
  const refusal = expect.objectContaining({ status: 429, retryAfterSeconds: 10 })
  expect(() => enter('c')).toThrow(refusal)
  enter('c', 2)
  first?.leave()
  enter('c')
  expect(() => enter('c')).toThrow(refusal)
})
