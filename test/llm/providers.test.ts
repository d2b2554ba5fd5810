import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import { runAgent } from '../../src/agent/run-agent.ts'
import type { Message } from '../../src/llm/inference.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { interceptedLlm } from '../helpers/model-server.ts'
import { CASES, type Case } from './provider-table.ts'
import { streamOf } from './stream-forms.ts'
import { type Body, FORMS, type Said, TOKENS } from './wire-forms.ts'

const outside = interceptRequests()

/** A provider, and whether its answers are asked for as streams. */
interface Asked extends Case {
  stream: boolean
}

const clientOf = ({ model, variables, params, stream }: Asked) =>
  interceptedLlm({
    stream,
    model: params ? 'entry' : model,
    small_model: params ? 'entry' : model,
    model_list: params ? [{ model_name: 'entry', litellm_params: { model, ...params } }] : [],
    credentials: variables,
    max_output_tokens: 4321,
  })

const ask = (one: Asked, ...before: Message[]) =>
  clientOf(one).complete({ role: 'main', messages: [...before, { role: 'user', content: 'hi' }] })

interface Sent {
  url: string
  headers: Headers
  body: Body
}

/** Answers each call of the provider with the next reply, as it is asked for. msw refuses anything else. */
function serve(one: Asked, replies: readonly (Said | Response)[]): Sent[] {
  const sent: Sent[] = []
  outside.use(
    http.post(`${new URL(one.url).origin}/*`, async ({ request }) => {
      sent.push({ url: request.url, headers: request.headers, body: await request.json() })
      const reply = replies[Math.min(sent.length, replies.length) - 1]
      if (reply instanceof Response) return reply.clone()
      return one.stream ? streamOf(one.form, reply ?? {}) : HttpResponse.json(FORMS[one.form].answer(reply ?? {}))
    }),
  )
  return sent
}

const tool = (name: string, required: string[], run: (args: Record<string, unknown>) => unknown) => ({
  definition: {
    name,
    description: `Does ${name}.`,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(required.map((key) => [key, { type: 'string' }])),
      required,
    },
  },
  run,
})

const CONVERSATION: readonly Said[] = [
  {
    text: 'Looking.',
    calls: [
      { id: 'abc000001', name: 'read_file', args: { target_file: 'main.tf' } },
      { id: 'abc000002', name: 'read_file', args: { target_file: 'other.tf' } },
    ],
  },
  { calls: [{ id: 'abc000003', name: 'task_complete', args: {} }] },
  { text: 'Done.' },
  { calls: [{ id: 'abc000004', name: 'task_complete', args: { summary: 'all good' } }] },
]

const ASKED: readonly Asked[] = CASES.flatMap((one) => [
  { ...one, stream: false },
  { ...one, stream: true, url: one.stream_url ?? one.url },
])
const nameOf = ({ model, url, stream }: Asked) => `${model} at ${new URL(url).pathname}${stream ? ', as a stream' : ''}`

describe.each(ASKED.map((one) => ({ name: nameOf(one), one })))('$name', ({ one }) => {
  const form = FORMS[one.form]
  const plainUrl = CASES.find(({ stream_url }) => stream_url === one.url)?.url

  it('is asked at its address, in its form, with its key', async () => {
    const sent = serve(one, [{ text: 'hello' }])
    expect(await ask(one, { role: 'system', content: 'rules' })).toMatchObject({
      model: one.model,
      text: 'hello',
      tool_calls: [],
      finish: 'end_turn',
      usage: { input_tokens: TOKENS.input, cached_tokens: TOKENS.cached, output_tokens: TOKENS.output },
    })
    expect(sent).toHaveLength(1)
    expect(sent[0]?.url).toBe(one.url)
    for (const [name, value] of Object.entries(one.headers))
      expect(sent[0]?.headers.get(name)).toEqual(typeof value === 'string' ? value : expect.stringMatching(value))
    const { body } = sent[0] ?? {}
    if (one.body_model) expect(body.model).toBe(one.body_model)
    else if (one.form !== 'chat') expect(body).not.toHaveProperty('model')
    const isInBody = one.stream && (one.form === 'chat' || one.form === 'anthropic')
    expect(body.stream).toBe(isInBody ? true : undefined)
    expect(form.messages(body)).toEqual([
      { role: 'system', text: 'rules' },
      { role: 'user', text: 'hi' },
    ])
    expect(form.tools(body)).toEqual([])
    expect(form.cap(body)).toBe(4321)
  })

  it('holds the same conversation of an agent: calls side by side, a repair, a reminder, the end', async () => {
    const sent = serve(one, CONVERSATION)
    const { value, usage } = await runAgent({
      llm: clientOf(one),
      chain: 'IAC_GENERATOR',
      role: 'main',
      system: 'rules',
      query: 'make it so',
      tools: [tool('read_file', ['target_file'], ({ target_file }) => `text of ${target_file}`)],
      resultTool: tool('task_complete', ['summary'], ({ summary }) => summary),
      maxTurns: 9,
      signal: new AbortController().signal,
    })
    expect(value).toBe('all good')
    expect(usage).toMatchObject({ input_tokens: 4 * TOKENS.input, output_tokens: 4 * TOKENS.output })
    expect(sent.map(({ body }) => form.tools(body))).toEqual(
      Array.from({ length: 4 }, () => ['read_file', 'task_complete']),
    )
    expect(form.messages(sent[3]?.body)).toEqual([
      { role: 'system', text: 'rules' },
      { role: 'user', text: 'make it so' },
      { role: 'assistant', text: 'Looking.', calls: CONVERSATION[0]?.calls },
      { role: 'tool', text: 'text of main.tf', call_id: 'abc000001' },
      { role: 'tool', text: 'text of other.tf', call_id: 'abc000002' },
      { role: 'assistant', calls: CONVERSATION[1]?.calls },
      { role: 'tool', text: expect.stringContaining('Missing required parameter'), call_id: 'abc000003' },
      { role: 'assistant', text: 'Done.' },
      { role: 'user', text: expect.stringContaining('`task_complete`') },
    ])
  })

  it.each([
    ['length', 'max_tokens'],
    ['content_filter', 'content_filter'],
  ] as const)('ends by %s', async (finish, expected) => {
    serve(one, [{ text: 'half of', finish }])
    expect(await ask(one)).toMatchObject({ finish: expected, text: 'half of' })
  })

  it('shows the words of its errors', async () => {
    const { status, body, shown } = one.error
    const sent = serve(one, [HttpResponse.json(body as object, { status })])
    await expect(ask(one)).rejects.toMatchObject({ status, message: `Inference call to ${one.model} failed: ${shown}` })
    // A stream at an address of its own may be missing or forbidden.
    expect(sent.map(({ url }) => url)).toEqual(
      one.stream_url && one.stream && status !== 400 ? [one.stream_url, plainUrl] : [one.url],
    )
  })

  it('is asked again when it is busy', async () => {
    const sent = serve(one, [
      HttpResponse.json({ error: { message: 'slow down' } }, { status: 429, headers: { 'retry-after': '0' } }),
      { text: 'now' },
    ])
    expect((await ask(one)).text).toBe('now')
    expect(sent).toHaveLength(2)
  })
})

it('a reasoning model at its vendor gets no temperature, and its cap by the other name', async () => {
  let body: unknown
  outside.use(
    http.post('https://api.openai.com/v1/chat/completions', async ({ request }) => {
      body = await request.json()
      return HttpResponse.json({
        choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
      })
    }),
  )
  const credentials = { OPENAI_API_KEY: 'key' }
  const llm = interceptedLlm({ model: 'openai/gpt-5.2', max_output_tokens: 77, credentials })
  await llm.complete({ role: 'main', messages: [{ role: 'user', content: 'hello' }] })
  expect(body).toEqual({
    model: 'gpt-5.2',
    messages: [{ role: 'user', content: 'hello' }],
    max_completion_tokens: 77,
    stream: true,
    stream_options: { include_usage: true },
  })
})
