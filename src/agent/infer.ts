import type { Inference, Message } from '../llm/types.ts'
import type { AgentRequest, Tool } from './types.ts'

type Caller = Pick<AgentRequest<unknown>, 'llm' | 'chain' | 'role' | 'signal' | 'observe'>

/** One model call of a chain, told to the observer. Throws the signal's reason when the signal fires. */
export async function infer(caller: Caller, messages: readonly Message[], tools: readonly Tool[]): Promise<Inference> {
  const { llm, chain, role, signal, observe } = caller
  signal.throwIfAborted()
  const started = performance.now()
  const reply = await llm
    .complete({
      role,
      messages: [...messages],
      tools: tools.length > 0 ? tools.map((tool) => tool.definition) : undefined,
      signal,
    })
    .catch((error: unknown) => {
      signal.throwIfAborted()
      throw error
    })
  signal.throwIfAborted()
  observe?.({
    type: 'inference',
    chain,
    model: reply.model,
    usage: reply.usage,
    duration_ms: performance.now() - started,
    finish: reply.finish_raw,
  })
  return reply
}
