import * as v from 'valibot'
import { ownMember } from '../../base/json.ts'
import { type TranslatedAnswer, toCompletion } from './chat.ts'
import { type AssistantMessage, argumentsObject, type ChatCall, type ChatMessage, plainId } from './wire.ts'

/**
 * The common part of the Messages API and the Converse API: a conversation of turns by user and assistant, each a list
 * of blocks (texts, calls, results of calls, thoughts), and an answer that is such a list too.
 */
export type Block = Record<string, unknown>
interface BlockTurn {
  role: 'user' | 'assistant'
  content: Block[]
}

/** Writes each kind of block in one of the two forms. */
export interface BlockWriter {
  text(text: string): Block
  call(call: { id: string; name: string; input: Record<string, unknown> }): Block
  result(callId: string, content: string): Block
  thought(thought: unknown): Block
}

/**
 * Returns the turns at whose end the provider is asked to cache the prompt: the last one, for the next request of the
 * conversation, and the user's turn before it, which was the last one of the request before. A provider looks back only
 * 20 blocks from a mark, and a turn of many calls has more. A first request with no tool but the one that ends it is
 * not continued as a rule, so nothing of it is marked, because writing to the cache has its price.
 */
export function turnsToCache<T extends { role: 'user' | 'assistant' }>(turns: readonly T[], tools: number): T[] {
  if (turns.length === 0 || (tools <= 1 && turns.every(({ role }) => role === 'user'))) return []
  const before = turns.slice(0, -1).findLast(({ role }) => role === 'user')
  return [...(before ? [before] : []), ...turns.slice(-1)]
}

/** Converts a conversation to turns. System texts are omitted; neighbours of one role become one turn. */
export function toTurns(messages: readonly ChatMessage[], write: BlockWriter): BlockTurn[] {
  const turns: BlockTurn[] = []
  const add = (role: BlockTurn['role'], content: Block[]) => {
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else if (content.length > 0) turns.push({ role, content })
  }
  for (const message of messages) {
    if (message.role === 'user') add('user', [write.text(message.content || ' ')])
    else if (message.role === 'tool') add('user', [write.result(plainId(message.tool_call_id), message.content)])
    else if (message.role === 'assistant') add('assistant', assistantBlocks(message, write))
  }
  return turns
}

/**
 * The order of the blocks of an assistant's turn: the length of each text, `call` for each call, and the unchanged
 * thoughts. Providers that sign thoughts want the turn back unchanged. Texts and calls are taken from the message
 * instead, because they may have been masked since.
 */
type BlockOrder = (number | 'call' | { thought: unknown })[]

const orderSchema = v.array(v.union([v.number(), v.literal('call'), v.object({ thought: v.unknown() })]))

/**
 * Returns the blocks of an assistant's message, in the order that the message carries. A message without an order, or
 * whose text and calls no longer match it, gets its thoughts first, then its text, then its calls.
 */
function assistantBlocks(message: AssistantMessage, write: BlockWriter): Block[] {
  const text = message.content ?? ''
  const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: json } }) =>
    write.call({ id: plainId(id), name, input: argumentsObject(json) }),
  )
  const parsed = v.safeParse(orderSchema, message.carry)
  const order: BlockOrder = parsed.success ? parsed.output : []
  if (!parsed.success || !matchesOrder(order, text.length, calls.length)) {
    const thoughts = order.flatMap((item) => (typeof item === 'object' ? [write.thought(item.thought)] : []))
    return [...thoughts, ...(text.trim() === '' ? [] : [write.text(text)]), ...calls]
  }
  let at = 0
  return order.flatMap((item): Block[] => {
    if (typeof item === 'object') return [write.thought(item.thought)]
    if (item === 'call') return calls.splice(0, 1)
    const piece = text.slice(at, at + item)
    at += item
    return piece.trim() === '' ? [] : [write.text(piece)]
  })
}

function matchesOrder(order: BlockOrder, textLength: number, callCount: number): boolean {
  const lengths = order.filter((item) => typeof item === 'number')
  return (
    lengths.reduce((sum, length) => sum + length, 0) === textLength &&
    order.filter((item) => item === 'call').length === callCount
  )
}

/** One block of an answer in common terms. Other kinds are skipped. */
export type AnswerBlock =
  | { kind: 'text'; text: string }
  | { kind: 'call'; id: string; name: string; input: unknown }
  | { kind: 'thought'; thought: unknown }

/** Stop reasons that both forms have, with the finish reasons of a chat completion. */
export const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
}

/**
 * Converts an answer of blocks to a chat completion.
 * @param finishReasons finish reason by stop reason; unknown stop reasons are passed on unchanged
 * @param usage tokens. `input` excludes those read from the cache or written to it, as both forms count
 */
export function completionOfBlocks(answer: {
  blocks: readonly AnswerBlock[]
  stopReason: string
  finishReasons: Readonly<Record<string, string>>
  usage: TranslatedAnswer['usage']
}) {
  const { blocks, stopReason, finishReasons, usage } = answer
  const calls: ChatCall[] = []
  const order: BlockOrder = []
  let text = ''
  for (const block of blocks) {
    if (block.kind === 'call') {
      calls.push({ id: block.id, function: { name: block.name, arguments: JSON.stringify(block.input) } })
      order.push('call')
    } else if (block.kind === 'text') {
      text += block.text
      order.push(block.text.length)
    } else order.push({ thought: block.thought })
  }
  return toCompletion({
    text,
    calls,
    finish_reason: ownMember(finishReasons, stopReason) ?? stopReason,
    usage: { ...usage, input: usage.input + usage.cached + usage.cache_write },
    // Without a thought the default order is correct.
    carry: blocks.some(({ kind }) => kind === 'thought') ? order : undefined,
  })
}
