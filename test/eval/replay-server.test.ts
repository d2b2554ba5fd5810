import { describe, expect, it, onTestFinished } from 'vitest'
import { createReplayLlm, REPLAY_MODELS, startReplayModel } from '../../eval/replay/answers.ts'
import type { RecordedCompletion } from '../../pipeline/kit/recording.ts'
import { silentLogger } from '../../src/base/log.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import type { InferenceRequest } from '../../src/llm/inference.ts'
import { modelConfig } from '../helpers/model-server.ts'

const usage = { input_tokens: 50, cached_tokens: 20, output_tokens: 7 }
const request: InferenceRequest = {
  role: 'main',
  messages: [
    { role: 'system', content: 'You write code.' },
    { role: 'user', content: 'Add a queue.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', name: 'read_file', arguments: '{"target_file":"main.tf"}' }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'nothing there' },
  ],
  tools: ['read_file', 'task_complete'].map((name) => ({
    name,
    description: name,
    parameters: { type: 'object', properties: {} },
  })),
}
const completion = (changes: Partial<RecordedCompletion>): RecordedCompletion => ({
  kind: 'complete',
  chain: 'task_complete',
  role: 'main',
  tools: ['read_file', 'task_complete'],
  request: { messages: request.messages as RecordedCompletion['request']['messages'] },
  ...changes,
})

async function clientFor(completions: RecordedCompletion[]) {
  const llm = await createReplayLlm({ completions, searches: [] })
  const server = await startReplayModel(llm)
  onTestFinished(() => server.close())
  const names = { model: `openai/${REPLAY_MODELS.main}`, small_model: `openai/${REPLAY_MODELS.small}` }
  return {
    llm,
    client: createLlmClient(modelConfig(`${server.url}/v1`, names), { fetch, log: silentLogger, backoffMs: 1 }),
  }
}

describe('the server that plays a recording', () => {
  it('gives a client what was recorded, for the same conversation', async () => {
    const tool_calls = [{ id: 'c2', name: 'task_complete', arguments: '{"status":"done"}' }]
    const answer = { model: 'a/b', text: '', tool_calls, finish: 'tool_use' as const, finish_raw: 'tool_use', usage }
    const { llm, client } = await clientFor([completion({ answer })])
    expect(await client.complete(request)).toMatchObject({ text: '', tool_calls, finish: 'tool_use', usage })
    expect(llm.statistics()).toEqual({ calls: 1, byPosition: 0, unused: 0, missed: [] })
  })

  it('says once which call is not there', async () => {
    const { llm, client } = await clientFor([])
    await expect(client.complete(request)).rejects.toThrow(
      /The recording has no answer for call 1, chain task_complete \(main model, tools read_file\): it has no such call\./,
    )
    expect(llm.statistics().calls).toBe(1)
  })

  it('fails as the recorded call failed, without trying again', async () => {
    const error = { name: 'InferenceCallAPIError', code: 'InferenceCallAPIError', status: 529, message: 'overloaded' }
    const { llm, client } = await clientFor([completion({ error })])
    await expect(client.complete(request)).rejects.toThrow(/overloaded/)
    expect(llm.statistics().calls).toBe(1)
  })
})
