import { describe, expect, it } from 'vitest'
import { openDialogue, readBodies, runChain } from '../../../pipeline/kit/run-chain.ts'
import { composePrompts } from '../../../pipeline/steps/shared/compose-prompts.ts'
import { type GeneratorValues, iacGenerator } from '../../../src/chains/iac-generator.ts'
import { sessionTargets } from '../../../src/chains/target-generator.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../steps/scripted-llm.ts'
import { createSteps } from '../steps/support.ts'

const steps = startOnce(createSteps)

/** Creates prompts that record which of them were read. */
function countingPrompts() {
  const read: string[] = []
  const body = async (name: string) => {
    read.push(name)
    return `body of ${name}`
  }
  return { read, body }
}

const generator: GeneratorValues = {
  operation: 'drift',
  forbid: false,
  templates: [],
  abbreviations: [],
  task: 'Do it.',
  repository: null,
  changes: '',
  providers: null,
  providerSchema: '',
}

describe('the bodies of a chain', () => {
  it('are read for the cloud of the session, and those that are not wanted are empty and not read', async () => {
    const prompts = countingPrompts()
    const { kit } = await steps.world({ context: { prompts } })
    expect(await readBodies(kit, iacGenerator, generator)).toEqual({
      engine: 'body of general-guidelines-engine',
      resourceCreation: 'body of aws-guidelines-resource_creation',
      networking: 'body of aws-guidelines-networking',
      permissions: 'body of aws-guidelines-permissions',
      forbiddenActions: '',
    })
    expect(prompts.read).not.toContain('aws-guidelines-forbidden_actions')
    const bodies = await readBodies(kit, iacGenerator, { ...generator, forbid: true })
    expect(bodies.forbiddenActions).toBe('body of aws-guidelines-forbidden_actions')
  })

  it('are read once for both passes of the compositor', async () => {
    const prompts = countingPrompts()
    const scripts = { construct_information: { args: { templates: ['s3_bucket'], abbreviations: [] } } }
    const { kit, llm } = await steps.world({ context: { prompts }, scripts })
    await composePrompts(kit)
    expect(llm.of('construct_information')).toHaveLength(2)
    expect(prompts.read).toEqual([
      'aws-guidelines-resources_list',
      'aws-guidelines-abbreviations',
      'aws-resources-s3_bucket',
    ])
  })
})

describe('a run of a chain', () => {
  it('goes on in one conversation when it is a dialogue', async () => {
    const prompts = countingPrompts()
    const { kit, llm, run } = await steps.world({
      context: { prompts },
      scripts: { task_complete: { args: { status: 'done', summary: 'Done.' } } },
    })
    run.conversation.push({ user: 'turn of the session', assistant: 'answer' })
    const dialogue = await openDialogue(kit, iacGenerator, generator)
    expect(await dialogue.ask(generator)).toEqual({ summary: 'Done.', assumptions: [], left_out: [] })
    const read = prompts.read.length
    await dialogue.ask({ ...generator, task: 'Mend it.' }, 'Done.')
    const [first, second] = llm.of('task_complete')
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages)
    expect(second?.messages.slice(first?.messages.length).map(({ role, content }) => [role, content])).toEqual([
      ['assistant', null],
      ['tool', 'Received. The platform now validates the code.'],
      ['assistant', 'Done.'],
      ['user', 'Mend it.'],
    ])
    expect(prompts.read).toHaveLength(read)
  })

  it('leaves the conversation out where the chain does not see it', async () => {
    const scripts = { generate_engine_targets: { args: { targets: ['a.b'] } } }
    const { kit, llm, run } = await steps.world({ scripts })
    run.conversation.push({ user: 'turn of the session', assistant: 'answer' })
    await runChain(kit, sessionTargets, { diff: '', earlier: null })
    expect(said(llm.of('generate_engine_targets')[0])).not.toContain('turn of the session')
  })

  it.each([
    [undefined, true],
    [() => true, true],
    [() => false, false],
  ])('offers a search of the web unless the models cannot search: %s', async (canSearch, offered) => {
    const { kit, llm } = await steps.world({
      scripts: { task_complete: { args: { status: 'done', summary: 'Done.' } } },
      canSearch,
    })
    await runChain(kit, iacGenerator, generator)
    const names = llm.of('task_complete')[0]?.tools?.map(({ name }) => name)
    expect(names?.includes('web_search')).toBe(offered)
    expect(names).toContain('resource_schema')
  })

  it('ends with a signal of its own', async () => {
    const { kit } = await steps.world({ scripts: { generate_engine_targets: 'hang' } })
    const stop = new AbortController()
    const running = runChain(kit, sessionTargets, { diff: '', earlier: null }, { signal: stop.signal })
    stop.abort(new Error('stopped'))
    await expect(running).rejects.toThrow('stopped')
    expect(kit.run.signal.aborted).toBe(false)
  })
})
