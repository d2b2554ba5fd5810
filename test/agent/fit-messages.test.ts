import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentRequest, Tool } from '../../src/agent/agent-request.ts'
import { estimateMessages, fitMessages, isOverlong, shareToKeep } from '../../src/agent/fit-messages.ts'
import { runAgent } from '../../src/agent/run-agent.ts'
import { PlatformError } from '../../src/base/errors.ts'
import { iacGenerator } from '../../src/chains/iac-generator.ts'
import type { Message } from '../../src/llm/inference.ts'
import { estimateTokens } from '../../src/llm/tokens.ts'
import { fence } from '../../src/prompts/layout.ts'
import { type Script, scriptedLlm } from '../pipeline/steps/scripted-llm.ts'

const estimate = (text: string) => estimateTokens(text, 3)
const budgetOf = (tokens: number) => ({ tokens, estimate })

const system: Message = { role: 'system', content: 'RULES' }
const turn = (user: string, assistant: string): Message[] => [
  { role: 'user', content: user },
  { role: 'assistant', content: assistant },
]
const step = (id: string, result: string, args = '{}'): Message[] => [
  { role: 'assistant', content: null, tool_calls: [{ id, name: 'read_file', arguments: args }] },
  { role: 'tool', tool_call_id: id, content: result },
]
const at = (messages: readonly Message[], index: number) => messages.at(index)?.content ?? ''

describe('fitMessages', () => {
  it('leaves what fits as it is', () => {
    const messages = [system, ...turn('a', 'b'), { role: 'user', content: 'q' } as const, ...step('1', 'r')]
    const fitted = fitMessages(messages, [3], budgetOf(10_000))
    expect(fitted).toEqual({ messages, cut: [] })
  })

  it('cuts the oldest tool results first and says how much is missing', () => {
    const query: Message = { role: 'user', content: 'The query.' }
    const messages = [
      system,
      query,
      ...step('1', 'x'.repeat(30_000)),
      ...step('2', 'y'.repeat(3_000)),
      ...step('3', 'z'.repeat(9_000)),
    ]
    const fitted = fitMessages(messages, [1], budgetOf(8_000))
    expect(fitted.cut).toEqual(['1'])
    expect(at(fitted.messages, 3)).toMatch(/^x+\n\[… 28000 characters left out …\]\nx+$/)
    expect(fitted.messages.filter((_, index) => index !== 3)).toEqual(messages.filter((_, index) => index !== 3))
  })

  it('keeps the newest turns of a long conversation', () => {
    const turns = Array.from({ length: 10 }, (_, index) =>
      turn(`request ${index} ${'x'.repeat(3_000)}`, 'Done.'),
    ).flat()
    const messages = [system, ...turns, { role: 'user', content: 'q' } as const]
    const fitted = fitMessages(messages, [messages.length - 1], budgetOf(7_000))
    expect(at(fitted.messages, 1)).toContain('left out')
    expect(at(fitted.messages, 1).startsWith('request 0')).toBe(true)
    expect(fitted.messages.slice(-5)).toEqual(messages.slice(-5))
  })

  it('keeps arguments JSON and drops what was signed with them', () => {
    const args = JSON.stringify({ target_file: 'a.tf', content: '"'.repeat(20_000) })
    const [call, answer] = step('1', 'ok', args)
    const signed = { ...call, carry: { for: 'x', data: 'signature' } } as Message
    const messages = [system, { role: 'user', content: 'q' } as const, signed, answer as Message, ...step('2', 'ok')]
    const fitted = fitMessages(messages, [1], budgetOf(3_000))
    const shown = fitted.messages[2]
    expect(shown?.role === 'assistant' && JSON.parse(shown.tool_calls?.[0]?.arguments ?? '')).toMatchObject({
      target_file: 'a.tf',
    })
    expect(shown).not.toHaveProperty('carry')
  })

  it('cuts the data of a query last, block by block', () => {
    const content = `Audit.\n\n${fence('request', 'Add a bucket')}\n\n${fence('plan', 'p'.repeat(60_000))}\n\nThe end.`
    const [fitted] = fitMessages([{ role: 'user', content }], [0], budgetOf(5_000)).messages
    expect(fitted?.content).toMatch(
      /^Audit\.\n\n<<<DATA request (\w+)\nAdd a bucket\n\1 DATA>>>\n\n<<<DATA plan (\w+)\np+\n\[… \d+ characters left out …\]\np+\n\2 DATA>>>\n\nThe end\.$/,
    )
    expect(estimateMessages(fitted ? [fitted] : [], budgetOf(0))).toBeLessThanOrEqual(5_000)
  })

  it('never exceeds a budget that the system prompt leaves room in, and keeps every call with its answer', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 50 }),
      fc.integer({ min: 0, max: 60_000 }).map((length) => 'lorem {"x"} '.repeat(length / 12)),
    )
    const data = text.map((content) => `Do it.\n\n${fence('data', content)}`)
    const calls = fc.array(fc.record({ args: text, results: fc.array(text, { minLength: 1, maxLength: 3 }) }), {
      maxLength: 6,
    })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, text), { maxLength: 6 }),
        data,
        calls,
        fc.integer({ min: 4_000, max: 60_000 }),
        (turns, query, steps, tokens) => {
          const before = [system, ...turns.flatMap(([user, assistant]) => turn(user, assistant))]
          const after = steps.flatMap(({ args, results }, index): Message[] => [
            {
              role: 'assistant',
              content: 'thinking',
              tool_calls: results.map((_, call) => ({
                id: `${index}-${call}`,
                name: 'tool',
                arguments: JSON.stringify({ args }),
              })),
            },
            ...results.map((content, call): Message => ({ role: 'tool', tool_call_id: `${index}-${call}`, content })),
          ])
          const messages: Message[] = [...before, { role: 'user', content: query }, ...after]
          const fitted = fitMessages(messages, [before.length], budgetOf(tokens))
          expect(estimateMessages(fitted.messages, budgetOf(tokens))).toBeLessThanOrEqual(tokens)
          const shape = (list: readonly Message[]) =>
            list.map((message) =>
              message.role === 'tool'
                ? message.tool_call_id
                : message.role === 'assistant'
                  ? message.tool_calls?.map(({ id }) => id)
                  : message.role,
            )
          expect(shape(fitted.messages)).toEqual(shape(messages))
          expect(fitted.messages[0]).toEqual(system)
        },
      ),
      { numRuns: 150 },
    )
  })
})

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
/** A chain with `reader` as its tool, for a model that takes so many tokens. */
const limited = (tokens: number, scripts: Script[], more: Parameters<typeof chain>[1] = {}) =>
  chain(scripts, { tools: [reader()], budget: budgetOf(tokens), ...more })
const failed = (reason: string, status = 400) =>
  new PlatformError(
    'InferenceCallAPIError',
    status,
    `Inference call to anthropic/claude-3-5-sonnet-20241022 failed: ${reason}`,
  )
const overlong = { error: failed('prompt is too long: 30000 tokens > 10000 maximum') }

describe('a chain whose messages grow beyond the model', () => {
  it('goes on with old results cut, system text and query kept', async () => {
    const { run, sent } = limited(14_000, [read('30000'), read('20000'), done])
    expect((await run()).value.summary).toBe('All written.')
    const last = sent(2)
    expect(last.slice(0, 2).map(({ content }) => content)).toEqual(['RULES', 'The query.'])
    expect(last[3]?.content).toMatch(/^a+\n\[… 28000 characters left out …\]\na+$/)
    expect(last[5]?.content).toMatch(/^b{20000}$/)
  })

  it('may ask again for what was cut', async () => {
    const { run, sent } = limited(14_000, [read('30000'), read('20000'), read('30000'), done])
    await run()
    expect(sent(3).at(-1)?.content).toMatch(/^c{30000}$/)
  })

  it('goes on from an earlier run with the results of that one cut first, and both queries kept', async () => {
    const before = await limited(14_000, [read('30000'), done]).run()
    const { run, sent } = limited(14_000, [read('20000'), read('30000'), done], {
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
  it('is asked with fewer each time that it says so', async () => {
    const { run, sent } = limited(100_000, [read('30000'), overlong, overlong, done])
    expect((await run()).value.summary).toBe('All written.')
    expect(JSON.stringify(sent(3)).length).toBeLessThan(JSON.stringify(sent(2)).length)
  })

  it('is asked once more with fewer, and the chain stays below from then on', async () => {
    const { run, sent } = limited(100_000, [read('30000'), overlong, read('9000'), done])
    expect((await run()).value.summary).toBe('All written.')
    expect(sent(1).at(-1)?.content).toHaveLength(30_000)
    expect(sent(2).at(-1)?.content?.length).toBeLessThan(12_000)
    expect(JSON.stringify(sent(3)).length).toBeLessThan(12_000)
  })

  it('has the last word when it goes on saying so, or when there is nothing to cut', async () => {
    const always = limited(100_000, [read('30000'), ...Array(5).fill(overlong), done])
    await expect(always.run()).rejects.toThrow('prompt is too long')
    expect(always.llm.of('task_complete').length).toBeLessThanOrEqual(5)
    const nothing = chain([overlong, done], { budget: budgetOf(100_000) })
    await expect(nothing.run()).rejects.toThrow('prompt is too long')
    expect(nothing.llm.of('task_complete')).toHaveLength(1)
  })
})

describe('isOverlong', () => {
  it.each([
    ['prompt is too long: 213462 tokens > 200000 maximum'],
    [
      'input length and `max_tokens` exceed context limit: 170636 + 34048 > 200000, decrease input length or ' +
        '`max_tokens` and try again',
    ],
    ["This model's maximum context length is 128000 tokens. However, your messages resulted in 150123 tokens."],
    ['Your input exceeds the context window of this model. Please adjust your input and try again.'],
    ['The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).'],
    ["This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    ['Please reduce the length of the messages or completion.'],
    ['Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length'],
    ['Input is too long for requested model.'],
    ['too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.'],
    ['the request exceeds the available context size, try increasing it'],
    ['Your request exceeded model token limit: 262144 (requested: 566084)'],
    ["Input length (265330) exceeds model's maximum context length (262144)."],
    ['Input length 131393 exceeds the maximum allowed input length of 131040 tokens.'],
    ['Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 9000 `inputs` tokens'],
    ['request (21020 tokens) exceeds the available context size (2048 tokens), try increasing it'],
    ['Requested tokens (2285) exceed context window of 2048'],
    ["The input (30000 tokens) is longer than the model's context length (8192 tokens)."],
    [
      'Trying to keep the first 4571 tokens when context the overflows. However, the model is loaded with context ' +
        'length of only 4096 tokens, which is not enough.',
    ],
    ['litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException'],
    ['The number of tokens to keep from the initial prompt is greater than the context length'],
  ])('%s', (text) => expect(isOverlong(failed(text))).toBe(true))

  it.each([
    [failed('Rate limit reached: too many tokens per minute', 429)],
    [failed('Too many tokens, please wait before trying again.', 400)],
    [failed('invalid x-api-key', 401)],
    [failed('Unsupported parameter: max_tokens', 400)],
    [failed('tools.0.name: String should match pattern', 400)],
    [new PlatformError('Other', 400, 'prompt is too long')],
    [new Error('prompt is too long')],
  ])('not %s', (error) => expect(isOverlong(error)).toBe(false))

  it('takes a status of its own for it', () => expect(isOverlong(failed('HTTP 413', 413))).toBe(true))
})

describe('keptShare', () => {
  it('comes from the numbers of the text, never from the name of the model', () => {
    expect(
      shareToKeep(failed('Your request exceeded model token limit: 262,144 (requested: 566084)').message),
    ).toBeCloseTo(0.417, 2)
    expect(shareToKeep(failed('prompt is too long: 213462 tokens > 200000 maximum').message)).toBe(0.7)
    expect(shareToKeep(failed('Input is too long for requested model.').message)).toBe(0.7)
  })
})
