import { describe, expect, it } from 'vitest'
import { runChain } from '../../../../pipeline/kit/run-chain.ts'
import { driftTargets } from '../../../../src/chains/target-generator.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { said } from '../scripted-llm.ts'
import { createSteps } from '../support.ts'

const steps = startOnce(createSteps)

const addresses = (number: number) => Array.from({ length: number }, (_, index) => `a.b${index}`)

describe('the target generator of a request about drift', () => {
  it.each([
    ['addresses without repeats', ['a.b', 'c.d', 'a.b'], { fits: true, targets: ['a.b', 'c.d'] }],
    ['256 addresses', addresses(256), { fits: true, targets: addresses(256) }],
    ['the whole root instead of 257', addresses(257), { fits: true, targets: [] }],
    ['the explanation when nothing fits, without secrets', [], { fits: false, explanation: 'Not (sensitive value).' }],
  ])('answers %s', async (_, targets, expected) => {
    const { kit, llm } = await steps.world({
      scripts: { generate_engine_targets: { args: { targets, explanation: 'Not topsecret-1.' } } },
      query: 'Check the buckets',
    })
    kit.secrets.add(['topsecret-1'])
    kit.run.conversation.push({ user: 'before', assistant: 'earlier' })
    expect(await runChain(kit, driftTargets, { request: kit.run.round.query })).toEqual(expected)
    const [request] = llm.of('generate_engine_targets')
    expect(request?.role).toBe('main')
    for (const part of ['body of general-guidelines-targeting_policies', 'Check the buckets', 'before', 'earlier'])
      expect(said(request)).toContain(part)
  })

  it.each([
    ['\n Not one bucket. ', 'Not one bucket.'],
    [' \n', 'Nothing in the code fits this request, so no drift was looked for.'],
  ])('answers the explanation %j as %j', async (explanation, shown) => {
    const { kit } = await steps.world({ scripts: { generate_engine_targets: { args: { targets: [], explanation } } } })
    const answer = await runChain(kit, driftTargets, { request: kit.run.round.query })
    expect(answer).toEqual({ fits: false, explanation: shown })
  })

  it('lets the model try again after what is no list of addresses', async () => {
    const { kit, llm } = await steps.world({
      scripts: {
        generate_engine_targets: [
          { args: { targets: 'a.b' } },
          { args: { targets: ['-destroy'] } },
          { args: { targets: [1, null] } },
          { args: { targets: ['a.b'] } },
        ],
      },
    })
    expect(await runChain(kit, driftTargets, { request: kit.run.round.query })).toEqual({
      fits: true,
      targets: ['a.b'],
    })
    expect(llm.of('generate_engine_targets')).toHaveLength(4)
  })
})
