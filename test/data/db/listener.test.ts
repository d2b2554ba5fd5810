import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createListener } from '../../../src/data/db/listener.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A database whose notifications arrive while `hears` is set; `calls` are the commands of its connections. */
function createDatabase(hears: boolean) {
  const state = { hears, calls: [] as string[], hearing: [] as boolean[] }
  let deliver: (channel: string, payload: string) => void = () => {}
  const notify = async (channel: string, payload: string) => {
    if (state.hears) deliver(channel, payload)
  }
  const say = (word: string) => async (channel?: string) => {
    const name = channel?.startsWith('platform_probe_') ? 'probe' : channel
    state.calls.push(name ? `${word} ${name}` : word)
  }
  const listener = createListener({
    open: async (onNotification) => {
      deliver = onNotification
      state.calls.push('open')
      return { listen: say('listen'), unlisten: say('unlisten'), close: say('close') }
    },
    notify,
    onHearing: (next) => void state.hearing.push(next),
  })
  return { state, notify, listener }
}

it('tries a notification of its own before it relies on them', async () => {
  const { state, notify, listener } = createDatabase(true)
  const heard: string[] = []
  const onListening = vi.fn()
  await listener.add('news', { onNotification: (payload) => void heard.push(payload), onListening })
  expect(state.calls).toEqual(['open', 'listen probe', 'unlisten probe', 'listen news', 'listen news'])
  await notify('news', 'first')
  await vi.advanceTimersByTimeAsync(120_000)
  expect(heard).toEqual(['first'])
  expect(onListening).toHaveBeenCalledTimes(1)
  expect(state.hearing).toEqual([])
  await listener.close()
})

it('calls every second where nothing arrives, without a connection, until something does', async () => {
  const { state, notify, listener } = createDatabase(false)
  const heard: string[] = []
  const onListening = vi.fn()
  const added = listener.add('news', { onNotification: (payload) => void heard.push(payload), onListening })
  await vi.advanceTimersByTimeAsync(2_000)
  await added
  expect(state.calls).toEqual(['open', 'listen probe', 'unlisten probe', 'close'])
  expect(state.hearing).toEqual([false])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(onListening).toHaveBeenCalledTimes(11)
  state.hears = true
  await vi.advanceTimersByTimeAsync(60_000)
  expect(state.hearing).toEqual([false, true])
  const calls = onListening.mock.calls.length
  await notify('news', 'at last')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(heard).toEqual(['at last'])
  expect(onListening).toHaveBeenCalledTimes(calls)
  await listener.close()
})

it('warns once of a silence that lasts', async () => {
  const { state, listener } = createDatabase(false)
  const added = listener.add('news', { onNotification: () => {} })
  await vi.advanceTimersByTimeAsync(300_000)
  await added
  expect(state.calls.filter((call) => call === 'open').length).toBeGreaterThan(3)
  expect(state.hearing).toEqual([false])
  await listener.close()
})
