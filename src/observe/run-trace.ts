import type { LlmConfig } from '../../config/types.ts'
import type { Cloud, Operation } from '../base/vocabulary.ts'
import type { Inference, Message, ModelRole, ToolCall, ToolDefinition } from '../llm/inference.ts'
import type { Pricing } from '../llm/prices.ts'
import { type Attributes, messageOf, type OpenSpan, type SpanRecorder, type TextMask } from './span-recorder.ts'

/** The facts about a session that its spans carry. */
export interface TracedSession {
  uuid: string
  /** The owner's e-mail address, or `user-<id>` without one. */
  username: string
  /** The operation of the session, regardless of this round's mode. It determines the project of the spans. */
  operation: Operation
  provider: Cloud
  workspace: { uri: string; branch: string; root_path: string | null }
}

interface RunTraceOptions {
  recorder: SpanRecorder
  project: string
  session: TracedSession
  mask: TextMask
  llm: Pick<LlmConfig, 'model' | 'small_model' | 'max_output_tokens' | 'temperature'>
  price: Pricing
}

type Kind = 'AGENT' | 'LLM' | 'TOOL' | 'EVALUATOR'

/**
 * Creates the trace of one run, whose methods never throw. Chains and engine spans are roots; model and tool calls are
 * children of chains.
 */
export function createRunTrace(options: RunTraceOptions) {
  const { recorder, project, session } = options
  const open = (name: string, kind: Kind, chainType?: string, parent?: OpenSpan) =>
    recorder.open({
      project,
      name,
      parent,
      mask: options.mask,
      last: { 'openinference.span.kind': kind, ...identityOf(session, chainType) },
    })

  return {
    chain: (name: string, query: string) =>
      chainTrace(options, open(`Chain - ${name}`, 'AGENT', name), query, (span, kind, parent) =>
        open(span, kind, name, parent),
      ),
    /** @param input a function if it is known only when the span ends */
    engine: (kind: 'plan' | 'drift' | 'apply', input: string | (() => string)) =>
      engineTrace(open(`Engine ${kind} - False`, 'EVALUATOR'), kind, input),
  }
}

export type RunTrace = ReturnType<typeof createRunTrace>
export type ChainTrace = ReturnType<typeof chainTrace>

function chainTrace(
  { llm, price }: RunTraceOptions,
  chain: OpenSpan,
  query: string,
  child: (name: string, kind: Kind, parent: OpenSpan) => OpenSpan,
) {
  const modelOf = (role: ModelRole) => (role === 'main' ? llm.model : llm.small_model)
  return {
    model: (asked: { role: ModelRole; messages: readonly Message[]; tools: readonly ToolDefinition[] }) => {
      const { role, messages, tools } = asked
      const span = child('Async Inference', 'LLM', chain)
      const readRequest = () => ({
        ...requestAttributes(messages, tools),
        ...invocation(llm, modelOf(role), tools.length > 0),
      })
      // The attributes are computed now, because the list of messages keeps growing.
      const request = span.attempt(readRequest) ?? {}
      return {
        end: (reply: Inference) =>
          span.end(() => ({
            ...request,
            ...modelAttributes(reply.model),
            ...costOf(price, reply),
            ...replyAttributes(reply),
          })),
        fail: (error: unknown) => span.fail(error, () => ({ ...request, ...modelAttributes(modelOf(role)) })),
      }
    },
    tool: ({ id, name, arguments: args }: ToolCall) => {
      const span = child(`Tool call - ${name}`, 'TOOL', chain)
      const called: Attributes = { 'tool.name': name, 'tool.id': id, 'tool.parameters': args, 'input.value': args }
      const output = (success: boolean, result: string | null, errorMessage: string | null) => ({
        ...called,
        'output.value': JSON.stringify({ name, tool_call_id: id, success, result, error_message: errorMessage }),
      })
      return {
        end: ({ success, content }: { success: boolean; content: string }) =>
          success
            ? span.end(() => output(true, content, null))
            : span.fail(content, () => output(false, null, content)),
        fail: (error: unknown) => span.fail(error, () => output(false, null, messageOf(error))),
      }
    },
    end: (result: unknown) => chain.end(() => ({ 'input.value': query, 'output.value': outputOf(result) })),
    fail: (error: unknown) => chain.fail(error, () => ({ 'input.value': query })),
  }
}

function engineTrace(span: OpenSpan, kind: string, input: string | (() => string)) {
  const read = () => (typeof input === 'string' ? input : input())
  return {
    end: (success: boolean, output: string): void => {
      const attributes = () => ({ 'input.value': read(), 'output.value': output })
      if (!success) return void span.fail(output, attributes)
      span.rename(`Engine ${kind} - True`)
      span.end(attributes)
    },
    fail: (error: unknown) => span.fail(error, () => ({ 'input.value': read(), 'output.value': messageOf(error) })),
  }
}

function invocation(llm: RunTraceOptions['llm'], model: string, withTools: boolean): Attributes {
  const { max_output_tokens: max_tokens, temperature } = llm
  const parameters = { model, max_tokens, temperature, ...(withTools && { tool_choice: 'auto' }) }
  return { 'llm.invocation_parameters': JSON.stringify(parameters) }
}

/** Returns the cost of a call, or no attribute when the price is unknown. */
function costOf(price: Pricing, { model, usage }: Inference): Attributes {
  const dollars = price(model, usage)
  return dollars === null ? {} : { 'llm.cost.total': dollars }
}

/** Returns the result of a chain as text: its summary, explanation or description, otherwise its JSON. */
function outputOf(result: unknown): string {
  if (typeof result === 'string') return result
  if (typeof result === 'object' && result !== null)
    for (const key of ['summary', 'explanation', 'description']) {
      const text = Object.entries(result).find(([name]) => name === key)?.[1]
      if (typeof text === 'string' && text !== '') return text
    }
  return JSON.stringify(result) ?? ''
}

/** Returns the attributes of every span of a session. The most useful come last, because the first are dropped. */
function identityOf(session: TracedSession, chainType?: string): Attributes {
  const { uuid, username, provider, workspace } = session
  const metadata = {
    session_id: uuid,
    user_id: username,
    cloud: provider === 'kubernetes' ? 'K8S' : provider.toUpperCase(),
    repo_uri: workspace.uri,
    iac_path: workspace.root_path,
    branch_name: workspace.branch,
    ...(chainType !== undefined && { chain_type: chainType }),
  }
  return { metadata: JSON.stringify(metadata), 'user.id': username, 'session.id': uuid }
}

/** Returns the attributes of a model request, the oldest messages first, because the first are dropped. */
function requestAttributes(messages: readonly Message[], tools: readonly ToolDefinition[]): Attributes {
  const attributes: Attributes = {}
  for (const [index, message] of messages.entries())
    Object.assign(attributes, messageAttributes(`llm.input_messages.${index}.message`, message))
  for (const [index, { name, description, parameters }] of tools.entries()) {
    const tool = { type: 'function', function: { name, description, parameters } }
    attributes[`llm.tools.${index}.tool.json_schema`] = JSON.stringify(tool)
  }
  return attributes
}

/** Returns the attributes for the answer of a model call: its text, tool calls and tokens. */
function replyAttributes(reply: Inference): Attributes {
  const { text, tool_calls, usage } = reply
  const message: Message = { role: 'assistant', content: text, ...(tool_calls.length > 0 && { tool_calls }) }
  return {
    ...messageAttributes('llm.output_messages.0.message', message),
    'llm.token_count.prompt': usage.input_tokens,
    'llm.token_count.completion': usage.output_tokens,
    'llm.token_count.total': usage.input_tokens + usage.output_tokens,
    ...(usage.cached_tokens > 0 && { 'llm.token_count.prompt_details.cache_read': usage.cached_tokens }),
    'output.value':
      text === '' ? JSON.stringify(tool_calls.map(({ name, arguments: args }) => ({ name, arguments: args }))) : text,
  }
}

/** Returns the attributes for a model `<provider>/<model-id>`; without a slash the provider is omitted. */
function modelAttributes(model: string): Attributes {
  const slash = model.indexOf('/')
  return { ...(slash > 0 && { 'llm.provider': model.slice(0, slash) }), 'llm.model_name': model }
}

function messageAttributes(prefix: string, message: Message): Attributes {
  const attributes: Attributes = { [`${prefix}.role`]: message.role }
  if (message.content !== null) attributes[`${prefix}.content`] = message.content
  if (message.role === 'tool') attributes[`${prefix}.tool_call_id`] = message.tool_call_id
  if (message.role === 'assistant')
    for (const [index, { id, name, arguments: args }] of (message.tool_calls ?? []).entries()) {
      const call = `${prefix}.tool_calls.${index}.tool_call`
      attributes[`${call}.id`] = id
      attributes[`${call}.function.name`] = name
      attributes[`${call}.function.arguments`] = args
    }
  return attributes
}
