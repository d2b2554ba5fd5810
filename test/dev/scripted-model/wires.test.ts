import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXAMPLES } from '../../../dev/scripted-model/examples.ts'
import { startScriptedModel } from '../../../dev/scripted-model/start.ts'
import type { Running } from '../../../dev/server.ts'
import type { Message, ToolCall } from '../../../src/llm/inference.ts'
import { interceptedLlm } from '../../helpers/model-server.ts'

let scripted: Running
beforeAll(async () => {
  scripted = await startScriptedModel()
})
afterAll(() => scripted.close())

const clientOf = (model: string, wire: string, path: string) =>
  interceptedLlm({
    model: 'm',
    small_model: 'm',
    model_list: [
      { model_name: 'm', litellm_params: { model, wire, api_base: `${scripted.url}${path}`, api_key: 'scripted' } },
    ],
  })

const FORMS = [
  ['openai/scripted-model', 'chat', '/v1'],
  ['anthropic/scripted-model', 'anthropic', '/anthropic/v1'],
  ['gemini/scripted-model', 'gemini', '/gemini/v1beta'],
] as const

const tool = (name: string) => ({
  name,
  description: name,
  parameters: { type: 'object', properties: {}, required: [] },
})
const tools = [
  tool('read_file'),
  tool('list_dir'),
  tool('write_to_file'),
  tool('replace_in_file'),
  tool('task_complete'),
]

async function resultOf({ name, arguments: args }: ToolCall): Promise<string> {
  if (name !== 'read_file') return 'done'
  return readFile(`dev/samples/${EXAMPLES.generate.sample}/${JSON.parse(args).target_file}`, 'utf8')
}

/** Plays a chain to its end and returns its messages. */
async function play(llm: ReturnType<typeof clientOf>) {
  const messages: Message[] = [
    { role: 'system', content: 'You write infrastructure as code.' },
    { role: 'user', content: EXAMPLES.generate.request },
  ]
  const said = []
  for (let turn = 0; turn < 8; turn++) {
    const { text, tool_calls, finish } = await llm.complete({ role: 'main', messages, tools })
    said.push({
      text,
      finish,
      calls: tool_calls.map(({ name, arguments: args }) => ({ name, args: JSON.parse(args) })),
    })
    if (tool_calls.length === 0 || tool_calls.some(({ name }) => name === 'task_complete')) return said
    messages.push({ role: 'assistant', content: text || null, tool_calls })
    for (const call of tool_calls) messages.push({ role: 'tool', tool_call_id: call.id, content: await resultOf(call) })
  }
  return said
}

describe('the scripted model', () => {
  it('says the same in each of its forms', async () => {
    const [chat, ...others] = await Promise.all(FORMS.map(([model, wire, path]) => play(clientOf(model, wire, path))))
    expect(chat?.length).toBeGreaterThan(3)
    expect(chat?.at(-1)?.calls).toMatchObject([{ name: 'task_complete', args: { status: 'done' } }])
    for (const other of others) expect(other).toEqual(chat)
  })

  it.each(FORMS)('answers text and counts tokens as %s', async (model, wire, path) => {
    const answer = await clientOf(model, wire, path).complete({
      role: 'small',
      messages: [{ role: 'user', content: 'Waiting.' }],
    })
    expect(answer).toMatchObject({ finish: 'end_turn', tool_calls: [] })
    expect(answer.text).not.toBe('')
    expect(answer.usage.input_tokens).toBeGreaterThan(0)
  })

  it.each([
    ['/anthropic/v1/messages', { messages: [] }, { type: 'error', error: { type: 'invalid_request_error' } }],
    [
      '/anthropic/v1/messages',
      { messages: [{ role: 'user', content: 'x' }] },
      { error: { message: 'max_tokens: Field required' } },
    ],
    ['/gemini/v1beta/models/x:generateContent', {}, { error: { code: 400, status: 'INVALID_ARGUMENT' } }],
  ])('refuses at %s in that form', async (path, body, error) => {
    const response = await fetch(`${scripted.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject(error)
  })
})
