import type { InferenceRequest, Message } from '../../../src/llm/inference.ts'
import { type ChatBody, type ModelServer, startModelServer, text, toolCalls } from '../../helpers/model-server.ts'
import { type Script, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'

/** A model on a port, for processes. */
export interface ChaosModel {
  url: string
  /** Never answers the first request of each of these chains. From now on all other chains are answered. */
  hold(chains: readonly string[]): void
  /** Lists the chains with a request that is never answered. */
  held(): string[]
  close(): Promise<void>
}

/** @param scripts answers must depend on their request alone, because several rounds ask at once */
export async function startChaosModel(scripts: Record<string, Script>): Promise<ChaosModel> {
  const llm = scriptedLlm(scripts)
  let holding = new Set<string>()
  const held: string[] = []
  const server: ModelServer = await startModelServer(async (body) => {
    const request = requestOf(body)
    const chain = request.tools?.at(-1)?.name ?? 'status'
    if (holding.delete(chain)) {
      held.push(chain)
      return 'hang'
    }
    const { text: said, tool_calls } = await llm.complete(request)
    return tool_calls.length === 0
      ? text(said)
      : toolCalls(...tool_calls.map((call): [string, string] => [call.name, call.arguments]))
  })
  return {
    url: server.url,
    hold: (chains) => {
      holding = new Set(chains)
      held.length = 0
    },
    held: () => [...held].sort(),
    close: () => server.close(),
  }
}

/** Restores a request from its form on the wire. */
function requestOf(body: ChatBody): InferenceRequest {
  const messages = body.messages.map(({ role, content, tool_call_id = '', tool_calls = [] }): Message => {
    if (role === 'tool') return { role, tool_call_id, content: content ?? '' }
    if (role !== 'assistant') return { role: role === 'system' ? role : 'user', content: content ?? '' }
    return {
      role,
      content,
      tool_calls: tool_calls.map(({ id, function: { name, arguments: given } }) => ({ id, name, arguments: given })),
    }
  })
  const tools = body.tools?.map(({ function: { name, description, parameters } }) => ({
    name,
    description,
    parameters,
  }))
  return { role: body.model === 'small-model' ? 'small' : 'main', messages, ...(tools && { tools }) }
}

/** Makes a script of one edit and its end, whatever the request. */
export const oneEdit =
  (
    edit: Exclude<Script, (...given: never[]) => unknown>,
    end: Exclude<Script, (...given: never[]) => unknown>,
  ): Script =>
  ({ messages }) =>
    messages.at(-1)?.role === 'tool' ? end : edit
