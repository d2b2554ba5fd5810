import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import { createMaskedLlm } from '../../pipeline/kit/models.ts'
import { createMasker } from '../../src/base/masking.ts'
import type { Inference, LlmClient, Message } from '../../src/llm/inference.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { interceptedLlm } from '../helpers/model-server.ts'
import type { Body } from './wire-forms.ts'

const outside = interceptRequests()

const bodies: Body[] = []
/** @param variable the variable with the key of the model's provider */
function setup(origin: string, answers: object[], model: string, variable: string, more = {}): LlmClient {
  bodies.length = 0
  outside.use(
    http.post(`${origin}/*`, async ({ request }) => {
      bodies.push(await request.json())
      return HttpResponse.json(answers[Math.min(bodies.length, answers.length) - 1])
    }),
  )
  return interceptedLlm({ model, credentials: { [variable]: 'k', ...more } })
}

const done = { choices: [{ finish_reason: 'stop', message: { content: 'ok' } }] }
const question: Message = { role: 'user', content: 'q' }
/** Makes the messages of the next turn: the model's answer with a result for each call. */
const next = ({ text, tool_calls, carry }: Inference): Message[] => [
  question,
  { role: 'assistant', content: text || null, tool_calls, ...(carry && { carry }) },
  ...tool_calls.map((call): Message => ({ role: 'tool', tool_call_id: call.id, content: 'result' })),
]
const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }]
async function twoTurns(llm: LlmClient): Promise<Inference> {
  const said = await llm.complete({ role: 'main', messages: [question], tools })
  await llm.complete({ role: 'main', messages: next(said), tools })
  return said
}

describe('signed thoughts', () => {
  const content = [
    { type: 'thinking', thinking: 'First I look.', signature: 's1' },
    { type: 'text', text: 'Looking. ' },
    { type: 'tool_use', id: 't1', name: 'look', input: { at: 'a' } },
    { type: 'redacted_thinking', data: 'x' },
    { type: 'text', text: 'And again.' },
    { type: 'tool_use', id: 't2', name: 'look', input: { at: 'b' } },
  ]
  const answer = {
    type: 'message',
    role: 'assistant',
    content,
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const claude = () => setup('https://api.anthropic.com', [answer], 'anthropic/claude-sonnet-5', 'ANTHROPIC_API_KEY')

  it('go back to the model where they were', async () => {
    expect(await twoTurns(claude())).toMatchObject({
      text: 'Looking. And again.',
      tool_calls: [{ id: 't1' }, { id: 't2' }],
    })
    expect(bodies[1].messages[1]).toEqual({ role: 'assistant', content })
  })

  it('go in front when the text was masked meanwhile, and stay away when they hold a secret themselves', async () => {
    const llm = claude()
    const said = await llm.complete({ role: 'main', messages: [question], tools })
    await createMaskedLlm(llm, createMasker(['again.'])).complete({ role: 'main', messages: next(said), tools })
    expect(bodies[1].messages[1].content.map((block: Body) => block.type)).toEqual([
      'thinking',
      'redacted_thinking',
      'text',
      'tool_use',
      'tool_use',
    ])
    expect(JSON.stringify(bodies[1])).not.toContain('again.')
    await createMaskedLlm(llm, createMasker(['First I look'])).complete({ role: 'main', messages: next(said), tools })
    expect(bodies[2].messages[1].content.map((block: Body) => block.type)).toEqual(['text', 'tool_use', 'tool_use'])
  })

  it('are nothing for another model', async () => {
    const said = await claude().complete({ role: 'main', messages: [question], tools })
    const llm = setup('https://api.openai.com', [done], 'openai/gpt-4o', 'OPENAI_API_KEY')
    await llm.complete({ role: 'main', messages: next(said), tools })
    expect(Object.keys(bodies[0].messages[1])).toEqual(['role', 'content', 'tool_calls'])
  })

  it('come back from the Converse API as well', async () => {
    const blocks = [
      { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
      { toolUse: { toolUseId: 't1', name: 'look', input: {} } },
    ]
    const llm = setup(
      'https://bedrock-runtime.us-west-2.amazonaws.com',
      [{ output: { message: { content: blocks } }, stopReason: 'tool_use' }],
      'bedrock/amazon.nova-pro-v1:0',
      'AWS_BEARER_TOKEN_BEDROCK',
    )
    await twoTurns(llm)
    expect(bodies[1].messages[1].content).toEqual(blocks)
  })
})

describe('fields of chat completions that have to come back', () => {
  const call = (id: string, more: object = {}) => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: '{}' },
    ...more,
  })
  const said = (message: object) => ({
    choices: [{ finish_reason: 'tool_calls', message: { role: 'assistant', content: null, ...message } }],
  })

  it('the signature of a call, with its call', async () => {
    const extra_content = { google: { thought_signature: 'sig' } }
    const answer = said({ tool_calls: [call('c1', { extra_content }), call('c2')] })
    const origin = 'https://generativelanguage.googleapis.com'
    await twoTurns(setup(origin, [answer], 'gemini/gemini-3.8-flash', 'GEMINI_API_KEY'))
    expect(bodies[1].messages[1].tool_calls).toEqual([call('c1', { extra_content }), call('c2')])
  })

  it('the reasoning of a model that asks for it', async () => {
    const answer = said({ reasoning_content: 'hm', tool_calls: [call('c1')] })
    await twoTurns(setup('https://api.deepseek.com', [answer], 'deepseek/deepseek-chat', 'DEEPSEEK_API_KEY'))
    expect(bodies[1].messages[1]).toMatchObject({ reasoning_content: 'hm', tool_calls: [{ id: 'c1' }] })
  })

  it('and none of a server that is not known to want them', async () => {
    const answer = said({ reasoning_content: 'hm', tool_calls: [call('c1', { extra_content: {} })] })
    const own = { OPENAI_BASE_URL: 'https://models.example.com/v1' }
    await twoTurns(setup('https://models.example.com', [answer], 'openai/m', 'OPENAI_API_KEY', own))
    expect(bodies[1].messages[1]).toEqual({ role: 'assistant', content: null, tool_calls: [call('c1')] })
  })
})

describe('what a provider accepts', () => {
  const messages: Message[] = [
    question,
    { role: 'assistant', content: null, tool_calls: [{ id: 'call:of/another', name: 'look', arguments: 'no json' }] },
    { role: 'tool', tool_call_id: 'call:of/another', content: 'result' },
  ]

  it('ids of calls are made anew where others are refused', async () => {
    const llm = setup('https://api.mistral.ai', [done], 'mistral/m', 'MISTRAL_API_KEY')
    await llm.complete({ role: 'main', messages, tools })
    const { id } = bodies[0].messages[1].tool_calls[0]
    expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(bodies[0].messages[2].tool_call_id).toBe(id)
  })

  it('arguments are objects, whatever the model wrote', async () => {
    const answer = { content: [{ type: 'text', text: 'ok' }], stop_reason: 'end_turn' }
    const llm = setup('https://api.anthropic.com', [answer], 'anthropic/claude-haiku-4-5', 'ANTHROPIC_API_KEY')
    await llm.complete({ role: 'main', messages, tools })
    const [, assistant, results] = bodies[0].messages
    expect(assistant.content).toEqual([
      { type: 'tool_use', id: 'call_of_another', name: 'look', input: { invalid_arguments: 'no json' } },
    ])
    expect(results.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'call_of_another', content: 'result', cache_control: { type: 'ephemeral' } },
    ])
  })

  /** Where the requests of a conversation ask for their beginning to be cached, as turn and block. */
  const marksIn = (turns: { content: object[] }[]) =>
    turns.flatMap(({ content }, turn) =>
      content.flatMap((block, at) => ('cache_control' in block || 'cachePoint' in block ? [`${turn}.${at}`] : [])),
    )
  const called = (count: number) => {
    const ids = Array.from({ length: count }, (_, index) => `call_${index}`)
    return [
      { role: 'assistant', content: null, tool_calls: ids.map((id) => ({ id, name: 'look', arguments: '{}' })) },
      ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'result' })),
    ] as Message[]
  }
  const look = { name: 'look', description: '', parameters: { type: 'object', properties: {} } }
  const CLAUDES = [
    ['anthropic/claude-haiku-4-5', 'https://api.anthropic.com', { content: [], stop_reason: 'end_turn' }],
    [
      'bedrock/anthropic.claude-haiku-4-5-v1:0',
      'https://bedrock-runtime.us-east-1.amazonaws.com',
      { output: { message: { content: [{ text: 'ok' }] } }, stopReason: 'end_turn' },
    ],
  ] as const

  it.each(
    CLAUDES,
  )('%s reads from the cache what the request before ended with, however many calls follow', async (model, host, answer) => {
    const credentials = model.startsWith('bedrock') ? 'AWS_BEARER_TOKEN_BEDROCK' : 'ANTHROPIC_API_KEY'
    const llm = setup(host, [answer], model, credentials, { AWS_REGION: 'us-east-1' })
    const conversation: Message[] = [{ role: 'system', content: 'rules' }, question]
    const endOfQuestion = model.startsWith('bedrock') ? '0.1' : '0.0'
    await llm.complete({ role: 'main', messages: conversation, tools: [look, { ...look, name: 'report' }] })
    expect(marksIn(bodies[0].messages)).toEqual([endOfQuestion])
    const longer = [...conversation, ...called(30)]
    await llm.complete({ role: 'main', messages: longer, tools: [look, { ...look, name: 'report' }] })
    expect(marksIn(bodies[1].messages)).toEqual([endOfQuestion, model.startsWith('bedrock') ? '2.30' : '2.29'])
    expect(JSON.stringify(bodies[1].system)).toMatch(/cache_control|cachePoint/)
    // Nobody continues a request whose only tool ends it: the rules are marked, the query is not.
    await llm.complete({ role: 'main', messages: conversation, tools: [look] })
    await llm.complete({ role: 'main', messages: conversation })
    for (const body of bodies.slice(2)) {
      expect(marksIn(body.messages)).toEqual([])
      expect(JSON.stringify(body.system)).toMatch(/cache_control|cachePoint/)
    }
    await llm.complete({ role: 'main', messages: [...conversation, ...called(1)], tools: [look] })
    expect(marksIn(bodies[4].messages)).toHaveLength(2)
  })

  const claudeOf = (model: string) =>
    setup('https://api.anthropic.com', [{ content: [], stop_reason: 'end_turn' }], model, 'ANTHROPIC_API_KEY')

  it.each([
    ['anthropic/claude-haiku-4-5', { temperature: 0.1 }],
    ['anthropic/claude-opus-4-6', { temperature: 0.1 }],
    ['anthropic/claude-opus-4-20250514', { temperature: 0.1 }],
    ['anthropic/claude-opus-4-7', {}],
    ['anthropic/claude-sonnet-5-5', {}],
  ])('%s gets the temperature that it takes', async (model, expected) => {
    await claudeOf(model).complete({ role: 'main', messages: [question] })
    const { temperature } = bodies[0]
    expect(temperature === undefined ? {} : { temperature }).toEqual(expected)
  })

  it.each([
    ['anthropic/claude-sonnet-5', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
    ['anthropic/claude-haiku-4-5', { thinking: { type: 'enabled', budget_tokens: 1024 }, temperature: 1 }],
  ])('%s thinks in its own way', async (model, expected) => {
    await claudeOf(model).complete({ role: 'main', messages: [question], thinking: true })
    expect(bodies[0]).toMatchObject(expected)
  })
})
