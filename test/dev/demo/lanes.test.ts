import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { Display } from '../../../dev/demo/display.ts'
import { describeActivity, openLanes, watch } from '../../../dev/demo/live/lanes.ts'
import { listen } from '../../../dev/server.ts'

/** Starts a server of streams, given as frames for each connection. Each stream ends after its frames. */
async function startStreams(streams: Record<string, string[][]>) {
  const resumed: (string | undefined)[] = []
  const server = createServer((request, response) => {
    const kind = Object.keys(streams).find((name) => request.url?.includes(`/events/${name}/`))
    const frames = kind === undefined ? undefined : streams[kind]?.shift()
    if (!frames) return response.writeHead(404).end()
    resumed.push(request.headers['last-event-id']?.toString())
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(frames.join(''))
  })
  const { url, close } = await listen(server)
  onTestFinished(close)
  return { base: url, resumed }
}

const frame = (event: { id: number; type: string }) =>
  `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify({ round: 1, ...event })}\n\n`
const END = 'event: end\ndata: {"status":"completed"}\n\n'

const recordingDisplay = () => {
  const lines: string[] = []
  const display: Display = {
    line: (text = '') => void lines.push(text),
    event: (heading, text) => void lines.push(`${heading}: ${text}`),
    busy: (text) => void lines.push(`busy ${text}`),
    hold: () => () => {},
    paint: (_, text) => text,
    end: () => {},
  }
  return { display, lines }
}

test('a stream that breaks is resumed after the last event', async () => {
  const first = [': keepalive\n\n', frame({ id: 4, type: 'chain.began' })]
  const second = [frame({ id: 7, type: 'chain.ended' }), END]
  const { base, resumed } = await startStreams({ activity: [first, second] })
  const ids: number[] = []
  for await (const { id } of watch(base, 'activity', 's', AbortSignal.timeout(5_000))) ids.push(id)
  expect(ids).toEqual([4, 7])
  expect(resumed).toEqual([undefined, '4'])
})

test('lanes show what ended and what goes on, and every line of the engine when asked', async () => {
  const about = { id: 1, round: 1, chain: 'IAC_GENERATOR' }
  const activity = [
    { ...about, type: 'chain.began' },
    { ...about, type: 'tool.called', tool: 'write_file', path: 'a.tf', outcome: 'ok', seconds: 0 },
    { ...about, type: 'chain.ended', outcome: 'ok', seconds: 1.25 },
    { ...about, type: 'engine.began', step: 'plan' },
    { ...about, type: 'engine.ended', step: 'plan', exit_code: 1, seconds: 2 },
  ].map(frame)
  const printed = { ...about, type: 'lines', step: 'plan', job_id: 'j', text: 'Refreshing\n\nDone\n' }
  const output = [frame(printed)]
  const { base } = await startStreams({ activity: [[...activity, END]], output: [[...output, END]] })
  const { display, lines } = recordingDisplay()
  const lanes = openLanes(display, { base, sessionId: 's', output: true, signal: AbortSignal.timeout(5_000) })
  await lanes.close()
  expect(lines.filter((line) => !line.startsWith('    '))).toEqual([
    'busy iac generator',
    '  tool: write_file a.tf',
    'busy iac generator, after write_file',
    'model: iac generator, 1.3 s',
    'busy plan',
    'engine: plan, 2.0 s, exit code 1',
  ])
  expect(lines.filter((line) => line.startsWith('    ')).map((line) => line.trim())).toEqual(
    expect.arrayContaining(['Refreshing', 'Done']),
  )
})

test('a platform without these streams is followed without lanes', async () => {
  const { base } = await startStreams({})
  const { display, lines } = recordingDisplay()
  await openLanes(display, { base, sessionId: 's', output: false, signal: AbortSignal.timeout(5_000) }).close()
  expect(lines).toEqual([])
})

test('only a second attempt has a line', () => {
  const about = { id: 1, round: 1, at: '2026-02-01T00:00:00Z' }
  const attempt = { ...about, type: 'attempt.began', max_attempts: 5, task: 'generate', reason: null } as const
  expect(describeActivity({ ...attempt, attempt: 1 })).toBeNull()
  expect(describeActivity({ ...attempt, attempt: 2 })?.text).toBe('2 of 5')
})
