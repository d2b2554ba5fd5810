import { describe, expect, it } from 'vitest'
import type { AgentRequest, Tool } from '../../src/agent/agent-request.ts'
import { estimateTokens } from '../../src/agent/context-budget.ts'
import { runAgent } from '../../src/agent/run-agent.ts'
import { PlatformError } from '../../src/base/errors.ts'
import { iacGenerator } from '../../src/chains/iac-generator.ts'
import { type Script, scriptedLlm } from '../pipeline/steps/scripted-llm.ts'

const budget = (tokens: number) => ({ tokens, estimate: (text: string) => estimateTokens(text, 3) })
const done: Script = { args: { status: 'done', summary: 'All written.' } }
const read = (file: string): Script => ({ calls: [['read_file', { file }]] })

/** Makes a tool that returns as many characters as the file name says, each time another letter. */
function reader(name = 'read_file', more: Partial<Tool> = {}): Tool {
  let runs = 0
  const run = ({ file }: Record<string, unknown>) => 'abcdefgh'.charAt(runs++).repeat(Number(file))
  return { definition: { name, description: 'Reads.', parameters: { type: 'object' } }, run, ...more }
}

function chain(scripts: Script[], more: Partial<AgentRequest<{ summary: string }>> = {}) {
  const llm = scriptedLlm({ task_complete: scripts })
  const request = {
    llm,
    chain: 'IAC_GENERATOR',
    role: 'main',
    query: 'The query.',
    system: 'RULES',
    maxTurns: 8,
  } as const
  const run = () =>
    runAgent({ ...request, resultTool: iacGenerator.resultTool(), signal: new AbortController().signal, ...more })
  return { llm, run, sent: (call: number) => llm.of('task_complete')[call]?.messages ?? [] }
}
const overlong = {
  error: new PlatformError(
    'InferenceCallAPIError',
    400,
    'Inference call to a/b failed: prompt is too long: 30000 tokens > 10000 maximum',
  ),
}

describe('a chain whose messages grow beyond the model', () => {
  it('goes on with old results cut, system text and query kept', async () => {
    const { run, sent } = chain([read('30000'), read('20000'), done], { tools: [reader()], budget: budget(14_000) })
    expect((await run()).value.summary).toBe('All written.')
    const last = sent(2)
    expect(last.slice(0, 2).map(({ content }) => content)).toEqual(['RULES', 'The query.'])
    expect(last[3]?.content).toMatch(/^a+\n\[… 28000 characters left out …\]\na+$/)
    expect(last[5]?.content).toMatch(/^b{20000}$/)
  })

  it('may ask again for what was cut', async () => {
    const { run, sent } = chain([read('30000'), read('20000'), read('30000'), done], {
      tools: [reader()],
      budget: budget(14_000),
    })
    await run()
    expect(sent(3).at(-1)?.content).toMatch(/^c{30000}$/)
  })

  it('goes on from an earlier run with the results of that one cut first, and both queries kept', async () => {
    const first = chain([read('30000'), done], { tools: [reader()], budget: budget(14_000) })
    const before = await first.run()
    const { run, sent } = chain([read('20000'), read('30000'), done], {
      tools: [reader()],
      budget: budget(14_000),
      query: 'The findings.',
      continues: { run: before, closing: 'All written.' },
    })
    await run()
    const last = sent(2)
    expect(last.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
      'The query.',
      'The findings.',
    ])
    expect(last[3]?.content).toMatch(/^a+\n\[… \d+ characters left out …\]\na+$/)
    expect(last.at(-1)?.content).toMatch(/^b{30000}$/)
  })

  it('sends everything as it is without a budget', async () => {
    const { run, sent } = chain([read('30000'), read('20000'), done], { tools: [reader()] })
    await run()
    expect(sent(2)[3]?.content).toMatch(/^a{30000}$/)
  })
})

describe('a provider that finds the messages too long', () => {
  it('is asked once more with fewer, and the chain stays below from then on', async () => {
    const { run, sent } = chain([read('30000'), overlong, read('9000'), done], {
      tools: [reader()],
      budget: budget(100_000),
    })
    expect((await run()).value.summary).toBe('All written.')
    expect(sent(1).at(-1)?.content).toHaveLength(30_000)
    expect(sent(2).at(-1)?.content?.length).toBeLessThan(12_000)
    expect(JSON.stringify(sent(3)).length).toBeLessThan(12_000)
  })

  it('has the last word when it says so again, or when there is nothing to cut', async () => {
    const twice = chain([read('30000'), overlong, overlong, done], { tools: [reader()], budget: budget(100_000) })
    await expect(twice.run()).rejects.toThrow('prompt is too long')
    expect(twice.llm.of('task_complete')).toHaveLength(3)
    const nothing = chain([overlong, done], { budget: budget(100_000) })
    await expect(nothing.run()).rejects.toThrow('prompt is too long')
    expect(nothing.llm.of('task_complete')).toHaveLength(1)
  })
})
