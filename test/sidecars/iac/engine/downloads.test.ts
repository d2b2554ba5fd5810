import { expect, it } from 'vitest'
import { Downloads } from '../../../../sidecars/iac/engine/downloads.ts'

const NEVER = new AbortController().signal

it('lets one download at a time, and the next ask again for what is missing', async () => {
  const downloads = new Downloads()
  const missing = new Set(['a', 'b'])
  const order: string[] = []
  const job = async (name: string, of: readonly string[]) => {
    const release = await downloads.claim(async () => of.filter((each) => missing.has(each)), NEVER)
    order.push(`${name} begins with ${of.filter((each) => missing.has(each)).join() || 'nothing'}`)
    return release
  }
  const first = await job('first', ['a'])
  const waiting = job('second', ['a', 'b'])
  const other = await job('third', [])
  missing.delete('a')
  first()
  const second = await waiting
  expect(order).toEqual(['first begins with a', 'third begins with nothing', 'second begins with b'])
  second()
  other()
})

it('gives two who wait for one another no deadlock, and ends a wait with its signal', async () => {
  const downloads = new Downloads()
  const first = await downloads.claim(async () => ['a'], NEVER)
  const stop = new AbortController()
  const stopped = downloads.claim(async () => ['a'], stop.signal)
  const crossing = [['a', 'b'] as const, ['b', 'a'] as const].map(async (names) => {
    const release = await downloads.claim(async () => names, NEVER)
    release()
  })
  stop.abort(new Error('the job is cancelled'))
  await expect(stopped).rejects.toThrow('cancelled')
  first()
  await Promise.all(crossing)
})
