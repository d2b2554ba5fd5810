import { describe, expect, it } from 'vitest'
import { createOutputArchive } from '../../../pipeline/kit/engine-output.ts'
import { waitForApply } from '../../../pipeline/steps/apply/run-once.ts'
import { claimRound } from '../../../src/rounds/claim.ts'
import { loadAggregate } from '../../../src/sessions/aggregate.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { lapseLease } from '../../sessions/fixtures.ts'
import { createSteps, ok, type StepWorld } from '../steps/support.ts'

const SECRET = 'password-0123456789'
const steps = startOnce(createSteps)

const outputsOf = async ({ run }: StepWorld) => {
  const session = await loadAggregate(run.context, run.round.session.uuid, { includeHistory: false })
  return session?.rounds.at(-1)?.outputs ?? []
}
const texts = ({ objects }: StepWorld) =>
  [...objects].filter(([key]) => key.startsWith('outputs/')).map(([key, { body }]) => [key, body])
const plan = (world: StepWorld) =>
  world.kit.engine.run('plan', { workspace_path: '/w', scope_id: 's', engine_provider: 'aws', plan_file: 'p' })

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
    await plan(world)
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
    expect((await outputsOf(world)).toSorted((a, b) => a.step.localeCompare(b.step))).toEqual(
      [
        ['plan', 1, 48],
        ['validate', 0, 6],
      ].map(([step, exit_code, file_size_bytes]) => ({
        id: expect.any(Number),
        url: expect.any(String),
        content_type: 'text/plain',
        file_size_bytes,
        created_at: expect.any(String),
        step,
        exit_code,
      })),
    )
  })

  it('is stored of an apply as well', async () => {
    const world = await steps.world({ engine: () => ok(`applied with ${SECRET}\n`) })
    world.kit.secrets.add([SECRET])
    const { context, round } = world.run
    const jobId = await context.iac.submit('apply', {
      workspace_path: '/w',
      scope_id: 's',
      engine_provider: 'aws',
      plan_file: 'p',
    })
    await waitForApply(world.kit, jobId)
    await world.kit.outputs.settle()
    expect(texts(world).map(([, body]) => body)).toEqual(['applied with (sensitive value)\n'])
    expect(await outputsOf(world)).toMatchObject([{ step: 'apply', exit_code: 0 }])
    expect(round.number).toBe(1)
  })

  it('is cut in the middle when it is too long, which the text says', async () => {
    const world = await steps.world({ engine: () => ok(`first\n${'x'.repeat(9 * 1024 * 1024)}\nlast\n`) })
    await plan(world)
    await world.kit.outputs.settle()
    const [[, body = ''] = []] = texts(world)
    expect(body.length).toBeLessThan(8.1 * 1024 * 1024)
    expect(body).toMatch(/^first\n/)
    expect(body).toMatch(/characters left out …\][\s\S]*last\n$/)
  })

  it('neither fails nor holds up a round whose objects cannot be stored', async () => {
    const world = await steps.world()
    const storage = {
      ...world.run.context.storage,
      put: async () => {
        throw new Error('away')
      },
    }
    const run = { ...world.run, context: { ...world.run.context, storage } }
    const outputs = createOutputArchive(run, world.kit.secrets)
    outputs.keep('plan', ok('text\n'))
    await outputs.settle()
    expect(await outputsOf(world)).toEqual([])
    const interrupted = createOutputArchive(
      {
        ...run,
        signal: AbortSignal.abort(),
        context: { ...run.context, storage: { ...storage, put: () => new Promise<never>(() => {}) } },
      },
      world.kit.secrets,
    )
    interrupted.keep('plan', ok('text\n'))
    await interrupted.settle()
  })

  it('of an attempt that was taken over leaves no row, and goes when the round starts again', async () => {
    const world = await steps.world()
    await plan(world)
    await world.kit.outputs.settle()
    expect(await outputsOf(world)).toHaveLength(1)
    const { sql } = steps.database
    await lapseLease(sql, world.run.round.id)
    await claimRound(sql, world.run.round.id)
    expect(await outputsOf(world)).toEqual([])
    await plan(world).catch(() => undefined)
    world.kit.outputs.keep('init', ok('late\n'))
    await world.kit.outputs.settle()
    expect(await outputsOf(world)).toEqual([])
  })
})
