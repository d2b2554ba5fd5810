import { describe, expect, it } from 'vitest'
import { watchJob } from '../../../pipeline/kit/follow-output.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createMasker } from '../../../src/base/masking.ts'
import type { EventLog } from '../../../src/events/event-log.ts'
import { silentEventLog } from '../../../src/events/event-log.ts'
import type { Activity, EngineOutput } from '../../../src/events/round-event.ts'
import type { EngineResult, FollowedOutput, IacClient, IacJobKind } from '../../../src/services/iac/contract.ts'

const SECRET = 'password-0123456789'
const JOB = 'job-1'
type Piece = Partial<FollowedOutput> | 'missed' | null

/** Creates a watched round, and a service that returns these pieces and then withholds its answer. */
function watched(kind: IacJobKind, pieces: Piece[] | undefined, eventLog?: EventLog) {
  const events: EngineOutput[] = []
  const activities: Activity[] = []
  const asked: { stdout: number; stderr: number }[] = []
  const used = Promise.withResolvers<void>()
  const outputFrom: IacClient['outputFrom'] = async (_, from, { signal }) => {
    asked.push({ ...from })
    const piece = pieces?.shift()
    if (piece === undefined) {
      used.resolve()
      return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(null)))
    }
    if (piece === null || piece === 'missed') return piece
    return { status: 'running', stdout: '', stderr: '', stdout_next: 0, stderr_next: 0, ...piece }
  }
  const run = {
    context: { iac: pieces ? { outputFrom } : {} },
    log: createLogger({ write: () => {} }),
    eventLog: eventLog ?? {
      ...silentEventLog,
      output: (event: EngineOutput) => events.push(event),
      activity: (event: Activity) => activities.push(event),
    },
  } as unknown as Parameters<typeof watchJob>[0]
  const watch = watchJob(run, createMasker([SECRET]), kind)
  const lines = (stream: 'stdout' | 'stderr') =>
    events.flatMap((event) => (event.type === 'lines' && event.stream === stream ? [event.text] : []))
  return { watch, events, activities, asked, lines, used: used.promise }
}
const result = (stdout: string, more: Partial<EngineResult> = {}): EngineResult => ({
  exit_code: 0,
  stdout,
  stderr: '',
  ...more,
})

describe('a job that is watched', () => {
  it('is told line by line, masked, and its end from its result', async () => {
    const { watch, events, activities, asked, lines, used } = watched('plan', [
      { stdout: 'one\n', stdout_next: 4 },
      { stdout: `two ${SECRET}\nhalf`, stderr: 'warning\n', stdout_next: 30, stderr_next: 8 },
    ])
    watch.began(JOB)
    await used
    expect(lines('stdout')).toEqual(['one\n', 'two (sensitive value)\n'])
    watch.ended(result(`one\ntwo ${SECRET}\nhalf and ${SECRET}\nlast`, { exit_code: 2, stderr: 'warning\n' }))
    expect(lines('stdout').join('')).toBe('one\ntwo (sensitive value)\nhalf and (sensitive value)\nlast\n')
    expect(lines('stderr')).toEqual(['warning\n'])
    expect(asked).toEqual([
      { stdout: 0, stderr: 0 },
      { stdout: 4, stderr: 0 },
      { stdout: 30, stderr: 8 },
    ])
    const seconds = expect.any(Number)
    expect(events.at(0)).toEqual({ type: 'step.began', step: 'plan', job_id: JOB })
    expect(events.at(-1)).toEqual({ type: 'step.ended', step: 'plan', job_id: JOB, exit_code: 2, seconds })
    expect(activities).toEqual([
      { type: 'engine.began', step: 'plan' },
      { type: 'engine.ended', step: 'plan', exit_code: 2, seconds },
    ])
    expect(JSON.stringify([events, activities])).not.toContain('0123456789')
  })

  it.each<[string, Piece[] | undefined]>([
    ['offers nothing', undefined],
    ['offers it no more', [null]],
    ['fails', ['missed']],
  ])('comes whole at the end from a service that %s', async (_, pieces) => {
    const { watch, lines } = watched('apply', pieces)
    watch.began(JOB)
    await Promise.resolve()
    watch.ended(result(`a\nb ${SECRET}\n`))
    expect(lines('stdout')).toEqual(['a\nb (sensitive value)\n'])
  })

  it('is told once more from where an output differs that began again', async () => {
    const { watch, lines, used } = watched('init', [{ stdout: 'Initializing\nfailed\n', stdout_next: 20 }])
    watch.began(JOB)
    await used
    watch.ended(result('Initializing\nfound\ndone\n'))
    expect(lines('stdout')).toEqual(['Initializing\nfailed\n', 'found\ndone\n'])
  })

  it('shows what was read of one that has no result', async () => {
    const { watch, events, lines, used } = watched('apply', [{ stdout: 'a\nhal', stdout_next: 5 }])
    watch.began(JOB)
    await used
    watch.ended(null)
    expect(lines('stdout')).toEqual(['a\n', 'hal\n'])
    expect(events.at(-1)).toMatchObject({ type: 'step.ended', exit_code: null })
  })

  it.each<IacJobKind>(['show', 'state_resource_ids', 'scope_resource_ids'])('shows no document: %s', (kind) => {
    const { watch, asked, lines } = watched(kind, [])
    watch.began(JOB)
    watch.ended(result('{"values": "all"}', { stderr: `no ${SECRET}\n` }))
    expect(asked).toEqual([])
    expect(lines('stdout')).toEqual([])
    expect(lines('stderr')).toEqual(['no (sensitive value)\n'])
  })

  it('is cut when it is long, in events of whole lines', () => {
    const { watch, lines } = watched('plan', undefined)
    watch.began(JOB)
    watch.ended(result(`${'x'.repeat(99)}\n`.repeat(40_000)))
    const shown = lines('stdout')
    for (const text of shown) {
      expect(text.endsWith('\n')).toBe(true)
      expect(text.length).toBeLessThanOrEqual(32 * 1024)
    }
    expect(shown.join('').length).toBeLessThan(2.1 * 1024 * 1024)
    expect(shown.at(-1)).toBe('[The rest is left out here.]\n')
  })

  it('tells of a lost job and of the one in its place', () => {
    const { watch, events } = watched('validate', undefined)
    watch.began(JOB)
    watch.began('job-2')
    watch.ended(result(''))
    expect(events.map((event) => [event.type, 'job_id' in event && event.job_id])).toEqual([
      ['step.began', JOB],
      ['step.ended', JOB],
      ['step.began', 'job-2'],
      ['step.ended', 'job-2'],
    ])
  })

  it('asks for nothing when nobody can watch', () => {
    const { watch, asked } = watched('plan', [], silentEventLog)
    watch.began(JOB)
    watch.ended(result('a\n'))
    expect(asked).toEqual([])
  })

  it('that was never accepted is not told of', () => {
    const { watch, events, activities } = watched('plan', undefined)
    watch.ended(null)
    expect([...events, ...activities]).toEqual([])
  })
})
