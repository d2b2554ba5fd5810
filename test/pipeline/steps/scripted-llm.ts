import type { Inference, InferenceRequest, LlmClient } from '../../../src/llm/inference.ts'
import { untilAborted } from '../../helpers/until-aborted.ts'

/** An answer of the model: arguments of the sentinel, calls of any tools, a text, or an error. */
export type Reply =
  | { args: Record<string, unknown> }
  | { calls: [name: string, args: Record<string, unknown>][] }
  | { text: string; finish?: Inference['finish']; raw?: string }
  | { error: Error }
  | 'hang'
export type Script = Reply | ((request: InferenceRequest, call: number) => Reply)

export interface ScriptedLlm extends LlmClient {
  /** Every request with the name of its sentinel; `status` for plain text. */
  requests: { chain: string; request: InferenceRequest }[]
  of(chain: string): InferenceRequest[]
}

/**
 * Creates an in-process model. Scripts are chosen by the sentinel that a request offers (its last tool), plain text by
 * `status`. A missing script is an error of the test.
 */
export function scriptedLlm(scripts: Record<string, Script | Script[]>): ScriptedLlm {
  const requests: ScriptedLlm['requests'] = []
  const of = (chain: string) => requests.filter((entry) => entry.chain === chain).map(({ request }) => request)
  return {
    requests,
    of,
    complete: async (request) => {
      const chain = request.tools?.at(-1)?.name ?? 'status'
      const call = of(chain).length
      requests.push({ chain, request: structuredClone({ ...request, signal: undefined, progress: undefined }) })
      const reply = replyOf(scripts[chain], request, call)
      if (reply === null) throw new Error(`no script for ${chain}, call ${call}`)
      return await play(reply, chain, request.signal)
    },
    search: async () => null,
  }
}

function replyOf(script: Script | Script[] | undefined, request: InferenceRequest, call: number): Reply | null {
  const one = Array.isArray(script) ? (script[call] ?? script.at(-1)) : script
  if (one === undefined) return null
  return typeof one === 'function' ? one(request, call) : one
}

const USAGE = { input_tokens: 100, cached_tokens: 40, output_tokens: 10 }

async function play(reply: Reply, chain: string, signal: AbortSignal | undefined): Promise<Inference> {
  if (reply === 'hang') {
    if (!signal) throw new Error('the request cannot be ended')
    await untilAborted(signal)
    throw signal.reason
  }
  if ('error' in reply) throw reply.error
  const base = { model: 'test/model', usage: USAGE }
  if ('text' in reply)
    return {
      ...base,
      text: reply.text,
      tool_calls: [],
      finish: reply.finish ?? 'end_turn',
      finish_raw: reply.raw ?? reply.finish ?? 'stop',
    }
  const calls: [string, Record<string, unknown>][] = 'calls' in reply ? reply.calls : [[chain, reply.args]]
  const tool_calls = calls.map(([name, args]) => ({ id: crypto.randomUUID(), name, arguments: JSON.stringify(args) }))
  return { ...base, text: '', tool_calls, finish: 'tool_use', finish_raw: 'tool_calls' }
}

/** Returns the reply of a script that ignores requests. */
export function scriptOf(script: Script | Script[] | undefined, call: number): Reply {
  const reply = replyOf(script, { role: 'small', messages: [] }, call)
  if (reply === null) throw new Error(`no script for call ${call}`)
  return reply
}

/** Joins all texts of a request to a model. */
export const said = (request: InferenceRequest | undefined): string => JSON.stringify(request?.messages ?? [])
