import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { waitUnlessAborted } from '../../src/base/time.ts'

const never = new Promise<never>(() => {})

describe('waitUnlessAborted', () => {
  it('rejects with the reason when the signal fires while it waits', async () => {
    const stop = new AbortController()
    const waiting = waitUnlessAborted(never, stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })

  it('rejects when the signal has fired before', async () => {
    await expect(waitUnlessAborted(never, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
  })

  it('answers as the work does, and leaves nothing at the signal', async () => {
    const { signal } = new AbortController()
    expect(await waitUnlessAborted(Promise.resolve(3), signal)).toBe(3)
    await expect(waitUnlessAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
