import { describe, expect, it } from 'vitest'
import { LeaseLost } from '../../../src/base/errors.ts'
import { parsePlan } from '../../../src/plan/plan.ts'
import { claimForRun } from '../../../src/rounds/claim.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { changesJson } from '../../plan/fixtures.ts'
import { said } from '../steps/scripted-llm.ts'
import { createSteps, type StepWorld } from '../steps/support.ts'

const steps = startOnce(createSteps)

/** Waits until the last `say` has written its row, as it does while nothing else is to be said. */
const written = ({ statuses }: Pick<StepWorld, 'statuses'>, rows: number) =>
  expect.poll(async () => (await statuses()).length).toBe(rows)

describe('say', () => {
  it('writes the sentence of the small model, told with the conversation', async () => {
    const world = await steps.world()
    const { kit, run, llm, statuses } = world
    run.conversation.push({ user: 'earlier request', assistant: 'earlier answer' })
    await kit.status.say('filtering', 'Add a bucket')
    await written(world, 1)
    expect(await statuses()).toEqual([['filtering', 'One sentence.']])
    const [request] = llm.of('status')
    expect(request?.role).toBe('small')
    expect(said(request)).toContain('Add a bucket')
    expect(said(request)).toContain('earlier request')
  })

  it('tells the request beside a text that is none, for its language and names', async () => {
    const world = await steps.world({ query: 'Lege einen Bucket an' })
    await world.kit.status.say('generating', 'update resource aws_s3_bucket.logs')
    await written(world, 1)
    expect(said(world.llm.of('status')[0])).toContain('Lege einen Bucket an')
  })

  it.each([
    ['the call fails', { error: new Error('no model') }],
    ['the answer is empty', { text: '  ' }],
    ['there is no answer yet when the round goes on', 'hang' as const],
  ])('writes the raw text when %s', async (_, reply) => {
    const { kit, statuses } = await steps.world({ scripts: { status: reply } })
    await kit.status.say('generating', 'raw text')
    await kit.status.settle()
    expect(await statuses()).toEqual([['generating', 'raw text']])
  })

  it('asks once a phase, and not for a text that has its sentence', async () => {
    const world = await steps.world({ scripts: { status: [{ text: 'Adds a bucket.' }, { text: 'Again.' }] } })
    await world.kit.status.say('filtering', 'Add a bucket')
    await written(world, 1)
    for (const [index, raw] of ['Add a bucket', 'operation one', 'operation two', ' '].entries()) {
      await world.kit.status.say('generating', raw)
      await written(world, index + 2)
    }
    expect((await world.statuses()).map(([, message]) => message)).toEqual([
      'Adds a bucket.',
      'Adds a bucket.',
      'Again.',
      'operation two',
      ' ',
    ])
    expect(world.llm.of('status')).toHaveLength(2)
  })

  it('returns before the sentence is there', async () => {
    const { kit, llm, statuses } = await steps.world({ scripts: { status: 'hang' } })
    await kit.status.say('filtering', 'raw text')
    expect(await statuses()).toEqual([])
    expect(llm.of('status').length).toBeLessThanOrEqual(1)
    await kit.status.settle()
  })

  it('keeps the order of the calls', async () => {
    const world = await steps.world({ scripts: { status: ['hang', { text: 'second' }] } })
    const { kit, statuses } = world
    await kit.status.say('filtering', 'first')
    await kit.status.say('generating', 'raw')
    await written(world, 2)
    await kit.status.show('validating', 'third')
    expect(await statuses()).toEqual([
      ['filtering', 'first'],
      ['generating', 'second'],
      ['validating', 'third'],
    ])
  })

  it('hides sensitive values from the model and from the row', async () => {
    const world = await steps.world({ scripts: { status: { text: 'It is tok-ABCDEF-123456.' } } })
    const { kit, llm, statuses } = world
    await kit.secrets.learn(parsePlan(changesJson))
    await kit.status.say('generating', 'error near S3cret-Passw0rd!')
    await written(world, 1)
    expect(said(llm.of('status')[0])).not.toContain('S3cret-Passw0rd!')
    expect(await statuses()).toEqual([['generating', 'It is (sensitive value).']])
  })

  it('tells a lost lease at the next row', async () => {
    const { kit, run } = await steps.world()
    await kit.status.say('filtering', 'raw')
    await kit.status.settle()
    await steps.database.sql`UPDATE rounds SET lease_until = NULL WHERE id = ${run.round.id}`
    await claimForRun(steps.database.sql, run.round.id)
    await kit.status.say('generating', 'raw')
    await expect(kit.status.settle()).rejects.toBeInstanceOf(LeaseLost)
  })
})
