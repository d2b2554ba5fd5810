import assert from 'node:assert/strict'
import type { LlmConfig } from '../../../config/types.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { createLlmClient } from '../../../src/llm/client.ts'
import { type ReplyProgress, StoppedInference } from '../../../src/llm/inference.ts'

/**
 * Run by each runtime with the address of `startStreamServer`. Exits with 0 if streamed answers are read, cut, stopped
 * and asked for again as on Node.
 */
const [url = ''] = process.argv.slice(2)

function ask(model: string, progress?: ReplyProgress, signal?: AbortSignal) {
  const config: LlmConfig = {
    model: `custom_openai/${model}`,
    small_model: `custom_openai/${model}`,
    web_search_model: '',
    temperature: 0,
    max_output_tokens: 32_000,
    timeout: 30,
    stream: true,
    stream_idle_timeout: 0.3,
    model_list: [],
    context_tokens: 0,
    max_session_tokens: 0,
    budget: {},
    record_folder: '',
    prices: {},
    credentials: { CUSTOM_OPENAI_API_BASE: `${url}/v1` },
  }
  const llm = createLlmClient(config, { fetch, log: silentLogger, backoffMs: 1 })
  return llm.complete({ role: 'main', messages: [{ role: 'user', content: 'hello' }], progress, signal })
}

assert.equal((await ask('letters')).text, 'Größe: 5 € für 日本 🙂')

const told: string[] = []
const progress = {
  call: ({ name }: { name: string }) => {
    told.push(name)
    // The server ends the answer only after this.
    void fetch(`${url}/told`)
  },
  restart: () => {},
}
assert.equal((await ask('calls', progress)).tool_calls.length, 2)
assert.deepEqual(told, ['first', 'second'])

assert.equal((await ask('breaks')).text, 'whole')
assert.equal((await ask('stalls')).text, 'whole')

assert.equal((await ask('endless')).finish, 'repetition')
await fetch(`${url}/closed`)

const controller = new AbortController()
const stop = { call: () => controller.abort(), restart: () => {} }
await assert.rejects(ask('calls', stop, controller.signal), StoppedInference)
process.exit(0)
