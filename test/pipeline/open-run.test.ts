import { describe, expect, it } from 'vitest'
import { createMeter, createTokenBudget } from '../../pipeline/kit/meter.ts'
import { createObserver, watchUploads } from '../../pipeline/run-round.ts'
import { countLines } from '../../pipeline/steps/generator/publish-changes.ts'
import { type EventLog, silentEventLog } from '../../src/events/event-log.ts'
import type { Activity } from '../../src/events/round-event.ts'

function recorder(): { eventLog: EventLog; events: Activity[] } {
  const events: Activity[] = []
  return { events, eventLog: { ...silentEventLog, activity: (event) => void events.push(event) } }
}

describe('what watchers are told', () => {
  it('of a call of a tool: chain, name, path, outcome and time, which the meter counts as well', () => {
    const { eventLog, events } = recorder()
    const meter = createMeter()
    const observe = createObserver(meter, eventLog)
    const call = { type: 'tool', chain: 'IAC_GENERATOR', durationMs: 1_234.5 } as const
    observe({ ...call, name: 'read_file', path: 'main.tf', success: true })
    observe({ ...call, name: 'list_resources', success: false, error: new Error('/srv/secret') })
    const called = { type: 'tool.called', chain: 'IAC_GENERATOR', seconds: 1.235 }
    expect(events).toEqual([
      { ...called, tool: 'read_file', path: 'main.tf', outcome: 'ok' },
      { ...called, tool: 'list_resources', path: null, outcome: 'refused' },
    ])
    expect(meter.usage().chains.IAC_GENERATOR).toMatchObject({ tool_calls: 2 })
  })

  it('of an upload: only of objects of the round that the store has taken', async () => {
    const { eventLog, events } = recorder()
    let fails = false
    const put = () => (fails ? Promise.reject(new Error('down')) : Promise.resolve(12))
    const watched = watchUploads({ put }, eventLog)
    const options = { content_type: 'text/plain' }
    expect(await watched.put('sessions/u/rounds/7/plans/ab12.txt', 'x', options)).toBe(12)
    await watched.put('sessions/u/saved-plans/7-x.plan', 'x', options)
    fails = true
    await expect(watched.put('sessions/u/rounds/7/plans/cd34.txt', 'x', options)).rejects.toThrow('down')
    expect(events).toEqual([{ type: 'artifact.uploaded', kind: 'plans', name: 'ab12.txt', bytes: 12 }])
  })

  it('of the token budget: what the session has used by now', () => {
    const used: number[] = []
    const budget = createTokenBudget(100, 10, (tokens) => used.push(tokens))
    budget.spend({ input_tokens: 5, cached_tokens: 0, output_tokens: 2 })
    budget.spend({ input_tokens: 1, cached_tokens: 0, output_tokens: 0 })
    expect(used).toEqual([17, 18])
  })
})

describe('counting lines', () => {
  const HEAD = '--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n'
  it.each([
    ['a new file', true, 'a\nb\n', 2, 0],
    ['a new file without a last line break', true, 'a\nb', 2, 0],
    ['an empty file', true, '', 0, 0],
    ['a diff, whose head does not count', false, `${HEAD} same\n-old\n+new\n+more\n`, 2, 1],
    ['a diff of lines that look like a head', false, `${HEAD}--- old\n+++ new\n`, 1, 1],
  ])('of %s', (_, new_file, content, added, removed) => {
    expect(countLines({ new_file, content })).toEqual({ added, removed })
  })
})
