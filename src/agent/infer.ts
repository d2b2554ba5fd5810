import type { Inference, Message } from '../llm/types.ts'
import type { ChainTrace } from '../observe/trace-types.ts'
import type { AgentRequest, Tool } from './types.ts'

type Caller = Pick<AgentRequest<unknown>, 'llm' | 'chain' | 'role' | 'signal' | 'observe'>

/** One model call of a chain, told to the observer. Throws the signal's reason when the signal fires. */
export async function infer(
  caller: Caller,
  messages: readonly Message[],
  tools: readonly Tool[],
  trace: ChainTrace | undefined,
): Promise<Inference> {
  const { role, signal } = caller
  signal.throwIfAborted()
  const definitions = tools.map((tool) => tool.definition)
  const span = trace?.model({ role, messages, tools: definitions })
  try {
    const reply = await ask(caller, messages, definitions)
    span?.end(reply)
    return reply
  } catch (error) {
    span?.fail(error)
    throw error
  }
}

async function ask(
  caller: Caller,
  messages: readonly Message[],
  definitions: Tool['definition'][],
): Promise<Inference> {
  const { llm, chain, role, signal, observe } = caller
  const started = performance.now()
  const reply = await llm
    .complete({
      role,
      messages: [...messages],
      tools: definitions.length > 0 ? definitions : undefined,
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
