import { describe, expect, it } from 'vitest'
import { createOutputArchive, watchJob } from '../../../pipeline/kit/engine-output.ts'
import { waitForApply } from '../../../pipeline/steps/apply/run-once.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createMasker } from '../../../src/base/masking.ts'
import type { ObjectStore } from '../../../src/data/storage/object-store.ts'
import { type EventLog, silentEventLog } from '../../../src/events/event-log.ts'
import type { Activity, EngineOutput } from '../../../src/events/round-event.ts'
import { claimForRun } from '../../../src/rounds/claim.ts'
import type { EngineResult, FollowedOutput, IacClient, IacJobKind } from '../../../src/services/iac/contract.ts'
import { loadAggregate } from '../../../src/sessions/aggregate.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { lapseLease } from '../../sessions/fixtures.ts'
import { createSteps, ok, type StepWorld } from '../steps/support.ts'

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
const result = (stdout: string, more: Partial<EngineResult> = {}): EngineResult => ({ ...ok(stdout), ...more })

describe('a job that is watched', () => {
  it('is told line by line, masked, and its end from its result', async () => {
    const { watch, events, activities, asked, lines, used } = watched('plan', [
      { stdout: 'one\n', stdout_next: 4 },
      { stdout: `two ${SECRET}\nhalf`, stderr: 'warning\n', stdout_next: 30, stderr_next: 8 },
    ])
    watch.began(JOB)
    await used
    expect(lines('stdout')).toEqual(['one\n', 'two (sensitive value)\n'])
    await watch.ended(result(`one\ntwo ${SECRET}\nhalf and ${SECRET}\nlast`, { exit_code: 2, stderr: 'warning\n' }))
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
    await watch.ended(result(`a\nb ${SECRET}\n`))
    expect(lines('stdout')).toEqual(['a\nb (sensitive value)\n'])
  })

  it('is told once more from where an output differs that began again', async () => {
    const { watch, lines, used } = watched('init', [{ stdout: 'Initializing\nfailed\n', stdout_next: 20 }])
    watch.began(JOB)
    await used
    await watch.ended(result('Initializing\nfound\ndone\n'))
    expect(lines('stdout')).toEqual(['Initializing\nfailed\n', 'found\ndone\n'])
  })

  it('shows what was read of one that has no result', async () => {
    const { watch, events, lines, used } = watched('apply', [{ stdout: 'a\nhal', stdout_next: 5 }])
    watch.began(JOB)
    await used
    await watch.ended(null)
    expect(lines('stdout')).toEqual(['a\n', 'hal\n'])
    expect(events.at(-1)).toMatchObject({ type: 'step.ended', exit_code: null })
  })

  it.each<IacJobKind>(['show', 'state_resource_ids', 'scope_resource_ids'])('shows no document: %s', async (kind) => {
    const { watch, asked, lines } = watched(kind, [])
    watch.began(JOB)
    await watch.ended(result('{"values": "all"}', { stderr: `no ${SECRET}\n` }))
    expect(asked).toEqual([])
    expect(lines('stdout')).toEqual([])
    expect(lines('stderr')).toEqual(['no (sensitive value)\n'])
  })

  it('is cut when it is long, in events of whole lines', async () => {
    const { watch, lines } = watched('plan', undefined)
    watch.began(JOB)
    await watch.ended(result(`${'x'.repeat(99)}\n`.repeat(40_000)))
    const shown = lines('stdout')
    for (const text of shown) {
      expect(text.endsWith('\n')).toBe(true)
      expect(text.length).toBeLessThanOrEqual(32 * 1024)
    }
    expect(shown.join('').length).toBeLessThan(2.1 * 1024 * 1024)
    expect(shown.at(-1)).toBe('[The rest is left out here.]\n')
  })

  it('tells of a lost job and of the one in its place', async () => {
    const { watch, events } = watched('validate', undefined)
    watch.began(JOB)
    watch.began('job-2')
    await watch.ended(result(''))
    expect(events.map((event) => [event.type, 'job_id' in event && event.job_id])).toEqual([
      ['step.began', JOB],
      ['step.ended', JOB],
      ['step.began', 'job-2'],
      ['step.ended', 'job-2'],
    ])
  })

  it('asks for nothing when nobody can watch', async () => {
    const { watch, asked } = watched('plan', [], silentEventLog)
    watch.began(JOB)
    await watch.ended(result('a\n'))
    expect(asked).toEqual([])
  })

  it('that was never accepted is not told of', async () => {
    const { watch, events, activities } = watched('plan', undefined)
    await watch.ended(null)
    expect([...events, ...activities]).toEqual([])
  })
})

const steps = startOnce(createSteps)

const outputsOf = async ({ run }: StepWorld) => {
  const session = await loadAggregate(run.context, run.round.session.uuid, { includeHistory: false })
  return session?.rounds.at(-1)?.outputs ?? []
}
const texts = ({ objects }: StepWorld) =>
  [...objects].filter(([key]) => key.startsWith('outputs/')).map(([key, { body }]) => [key, body])
const PLAN = { workspace_path: '/w', scope_id: 's', engine_provider: 'aws', plan_file: 'p' } as const
const planIn = (world: StepWorld) => world.kit.engine.run('plan', PLAN)

describe('the output of engine jobs', () => {
  it('is stored whole and masked, with the step and its exit code, and that of documents is not', async () => {
    const world = await steps.world({
      engine: ({ kind }) =>
        kind === 'plan'
          ? { exit_code: 1, stdout: `key ${SECRET}\n`, stderr: `Error: ${SECRET}\n` }
          : ok(kind === 'validate' ? 'valid\n' : `{"a": "${SECRET}"}`),
    })
    const { kit } = world
    await kit.engine.run('validate', { workspace_path: '/w' })
    await planIn(world)
    await kit.engine.run('show', { workspace_path: '/w', plan_file: 'p' })
    // The plan is masked with secrets that were learned later.
    kit.secrets.add([SECRET])
    await kit.outputs.settle()
    expect(texts(world)).toEqual([
      [expect.stringMatching(/^outputs\/validate-[0-9a-f]{8}\.txt$/), 'valid\n'],
      [
        expect.stringMatching(/^outputs\/plan-[0-9a-f]{8}\.txt$/),
        'key (sensitive value)\n\nError: (sensitive value)\n',
      ],
    ])
    const stored = { id: expect.any(Number), url: expect.any(String), created_at: expect.any(String) }
    expect((await outputsOf(world)).toSorted((a, b) => a.step.localeCompare(b.step))).toEqual([
      { ...stored, content_type: 'text/plain', step: 'plan', exit_code: 1, file_size_bytes: 48 },
      { ...stored, content_type: 'text/plain', step: 'validate', exit_code: 0, file_size_bytes: 6 },
    ])
  })

  it('is stored of an apply as well', async () => {
    const world = await steps.world({ engine: () => ok(`applied with ${SECRET}\n`) })
    world.kit.secrets.add([SECRET])
    await waitForApply(world.kit, await world.run.context.iac.submit('apply', PLAN))
    await world.kit.outputs.settle()
    expect(texts(world).map(([, body]) => body)).toEqual(['applied with (sensitive value)\n'])
    expect(await outputsOf(world)).toMatchObject([{ step: 'apply', exit_code: 0 }])
  })

  it('is cut in the middle when it is too long, which the text says', async () => {
    const world = await steps.world({ engine: () => ok(`first\n${'x'.repeat(9 * 1024 * 1024)}\nlast\n`) })
    await planIn(world)
    await world.kit.outputs.settle()
    const [[, body = ''] = []] = texts(world)
    expect(body.length).toBeLessThan(8.1 * 1024 * 1024)
    expect(body).toMatch(/^first\n/)
    expect(body).toMatch(/characters left out …\][\s\S]*last\n$/)
  })

  it('neither fails nor holds up a round whose objects cannot be stored', async () => {
    const world = await steps.world()
    const archive = async (put: ObjectStore['put'], signal: AbortSignal) => {
      world.run.context.storage.put = put
      const outputs = createOutputArchive({ ...world.run, signal }, world.kit.secrets)
      outputs.keep('plan', ok('text\n'))
      await outputs.settle()
    }
    await archive(() => Promise.reject(new Error('away')), world.run.signal)
    expect(await outputsOf(world)).toEqual([])
    await archive(() => new Promise(() => {}), AbortSignal.abort())
  })

  it('of an attempt that was taken over leaves no row, and goes when the round starts again', async () => {
    const world = await steps.world()
    await planIn(world)
    await world.kit.outputs.settle()
    expect(await outputsOf(world)).toHaveLength(1)
    const { sql } = steps.database
    await lapseLease(sql, world.run.round.id)
    await claimForRun(sql, world.run.round.id)
    expect(await outputsOf(world)).toEqual([])
    await planIn(world).catch(() => undefined)
    world.kit.outputs.keep('init', ok('late\n'))
    await world.kit.outputs.settle()
    expect(await outputsOf(world)).toEqual([])
  })
})
