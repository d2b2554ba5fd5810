import { describe, expect, it } from 'vitest'
import { rejectOnAbort } from '../../src/base/abort.ts'

describe('what ends with its signal', () => {
  it('rejects when the signal fires', async () => {
    const stop = new AbortController()
    const ended = rejectOnAbort(stop.signal)
    stop.abort(new Error('enough'))
    await expect(ended).rejects.toThrow('enough')
  })

  it('rejects when the signal has fired before', async () => {
    await expect(rejectOnAbort(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
  })
})
