import { describe, expect, it } from 'vitest'
import { LeaseLost } from '../../../src/base/errors.ts'
import { parsePlan } from '../../../src/plan/plan.ts'
import { claimForRun } from '../../../src/rounds/claim.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { changesJson } from '../../plan/fixtures.ts'
import { said } from '../steps/scripted-llm.ts'
import { createSteps } from '../steps/support.ts'

const steps = startOnce(createSteps)

describe('say', () => {
  it('writes the sentence of the small model, told with the conversation', async () => {
    const { kit, run, llm, statuses } = await steps.world()
    run.conversation.push({ user: 'earlier request', assistant: 'earlier answer' })
    await kit.status.say('filtering', 'Add a bucket')
    await kit.status.settle()
    expect(await statuses()).toEqual([['filtering', 'One sentence.']])
    const [request] = llm.of('status')
    expect(request?.role).toBe('small')
    expect(said(request)).toContain('Add a bucket')
    expect(said(request)).toContain('earlier request')
  })

  it.each([
    ['the call fails', { error: new Error('no model') }],
    ['the answer is empty', { text: '  ' }],
    ['there is no answer in time', 'hang' as const],
  ])('writes the raw text when %s', async (_, reply) => {
    const { kit, statuses } = await steps.world({ scripts: { status: reply } })
    await kit.status.say('generating', 'raw text')
    await kit.status.settle()
    expect(await statuses()).toEqual([['generating', 'raw text']])
  })

  it('asks once for a text that comes again, unless there was no answer', async () => {
    const { kit, llm, statuses } = await steps.world({ scripts: { status: [{ text: '' }, { text: 'Waiting.' }] } })
    for (let attempt = 1; attempt <= 4; attempt++) await kit.status.say('validating', 'raw')
    await kit.status.settle()
    expect((await statuses()).map(([, message]) => message)).toEqual(['raw', 'Waiting.', 'Waiting.', 'Waiting.'])
    expect(llm.of('status')).toHaveLength(2)
  })

  it('returns before the sentence is there', async () => {
    const { kit, llm, statuses } = await steps.world({ scripts: { status: 'hang' } })
    await kit.status.say('filtering', 'raw text')
    expect(await statuses()).toEqual([])
    expect(llm.of('status').length).toBeLessThanOrEqual(1)
    await kit.status.settle()
  })

  it('keeps the order of the calls', async () => {
    const { kit, statuses } = await steps.world({ scripts: { status: ['hang', { text: 'second' }] } })
    await kit.status.say('filtering', 'first')
    await kit.status.say('generating', 'raw')
    await kit.status.show('validating', 'third')
    expect(await statuses()).toEqual([
      ['filtering', 'first'],
      ['generating', 'second'],
      ['validating', 'third'],
    ])
  })

  it('hides sensitive values from the model and from the row', async () => {
    const { kit, llm, statuses } = await steps.world({ scripts: { status: { text: 'It is tok-ABCDEF-123456.' } } })
    await kit.secrets.learn(parsePlan(changesJson))
    await kit.status.say('generating', 'error near S3cret-Passw0rd!')
    await kit.status.settle()
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
