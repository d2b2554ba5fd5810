import { afterAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { createLlmClient } from '../../../src/llm/client.ts'
import {
  type ChatBody,
  type ModelReply,
  type ModelServer,
  modelConfig,
  startModelServer,
  text,
  toolCalls,
} from '../../helpers/model-server.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { type Reply, type Script, scriptOf } from '../../pipeline/steps/scripted-llm.ts'
import { goodRound } from './scripts.ts'
import { firstRound, startStack } from './stack.ts'

const stack = startOnce(startStack)
const servers: ModelServer[] = []
afterAll(async () => {
  for (const server of servers) await server.close()
})

/** Runs a round with models behind HTTP; `fault` replaces some answers of the script. */
async function round(
  fault: (chain: string, call: number) => ModelReply | null,
  scripts: Record<string, Script | Script[]> = goodRound(),
) {
  const calls = new Map<string, number>()
  const answered = new Map<string, number>()
  const count = (counter: Map<string, number>, chain: string) => {
    const number = counter.get(chain) ?? 0
    counter.set(chain, number + 1)
    return number
  }
  const server = await startModelServer((body) => {
    const chain = chainOf(body)
    return fault(chain, count(calls, chain)) ?? toAnswer(chain, scriptOf(scripts[chain], count(answered, chain)))
  })
  servers.push(server)
  const llm = createLlmClient(modelConfig(server.url, { timeout: 0.4 }), { fetch, log: silentLogger })
  return { session: await firstRound(stack, stack.context(llm)), calls }
}

const chainOf = (body: ChatBody) => body.tools?.at(-1)?.function.name ?? 'status'

function toAnswer(chain: string, reply: Reply): ModelReply {
  if (typeof reply === 'string' || 'error' in reply) throw new Error('only answers are scripted here')
  if ('text' in reply) return text(reply.text)
  return toolCalls(...('calls' in reply ? reply.calls : [[chain, reply.args] satisfies [string, unknown]]))
}

// In parallel, because most of their time is waiting between attempts.
describe.concurrent('models behind HTTP', () => {
  it('that are busy for a moment delay the round only', async () => {
    const busy: ModelReply = { status: 429, body: { error: { message: 'slow down' } }, headers: { 'retry-after': '0' } }
    const { session, calls } = await round((chain, call) => (chain === 'requests_filter' && call < 2 ? busy : null))
    expect(session.failures).toEqual([])
    expect(session.statuses.at(-1)).toBe('completed')
    expect(calls.get('requests_filter')).toBe(3)
  })

  it.each<[string, ModelReply, string, number]>([
    ['answer 500', { status: 500, body: { error: { message: 'upstream broken' } } }, 'upstream broken', 4],
    ['hang', 'hang', '', 4],
    ['answer garbage', { status: 200, body: '<html>proxy</html>' }, '', 1],
    ['refuse the key', { status: 401, body: { error: { message: 'bad key test-key-material' } } }, '', 1],
  ])('that %s fail the round with the name of the model', async (_, reply, reason, at_least) => {
    const { session, calls } = await round((chain) => (chain === 'requests_filter' ? reply : null))
    expect(session.statuses.at(-1)).toBe('failed')
    expect(session.messages.at(-1)).toMatch(/^runner failed: Inference call to openai\/small-model failed: ./)
    expect(session.messages.at(-1)).toContain(reason)
    expect(session.messages.at(-1)).not.toContain('test-key-material')
    expect(session.in_flight).toBe(false)
    expect(calls.get('requests_filter')).toBeGreaterThanOrEqual(at_least)
  })

  it('that answer arguments that are no JSON are told so and try again', async () => {
    const broken = toolCalls(['requests_filter', '{"status": tru'])
    const { session, calls } = await round((chain, call) => (chain === 'requests_filter' && call === 0 ? broken : null))
    expect(session.statuses.at(-1)).toBe('completed')
    expect(calls.get('requests_filter')).toBe(2)
  })
})
