import { type ChatMessage, chatCompletion, chatError, readChatRequest } from '../../dev/chat-completions.ts'
import { BodyTooLarge, type Running, startServer } from '../../dev/server.ts'
import { type Chain, chainOf, type RecordedError, type Recording } from '../../pipeline/kit/recording.ts'
import { sha256Hex } from '../../src/base/bytes.ts'
import { PlatformError } from '../../src/base/errors.ts'
import type { Inference, LlmClient, Message } from '../../src/llm/inference.ts'

export type ReplayLlm = Awaited<ReturnType<typeof createReplayLlm>>

interface Wanted {
  key: string
  tools: string
  hash: string
}
interface Slot<Answer> extends Wanted {
  answer?: Answer
  error?: RecordedError
  used: boolean
}

/**
 * Makes a client that answers from a recording: with the answer to the same messages, or else with the next one of the
 * chain. Errors: those that were recorded; `PlatformError` `RecordingMiss` for a call without a recording.
 */
export async function createReplayLlm({ completions, searches }: Pick<Recording, 'completions' | 'searches'>) {
  const kept: Slot<Inference>[] = await Promise.all(
    completions.map(async ({ request, answer, error, ...chain }) => {
      const hash = await hashOf(request.messages)
      return { key: keyOf(chain), tools: chain.tools.join(), hash, answer, error, used: false }
    }),
  )
  const recordedSearches = await Promise.all(
    searches.map(async ({ query, used: observed, answer, error }) => {
      return { key: 'search', tools: '', hash: await sha256Hex(normalise(query)), observed, answer, error, used: false }
    }),
  )
  const statistics = {
    calls: 0,
    /** Calls with other messages than the recorded ones. They got the next answer of their chain. */
    byPosition: 0,
    /** The texts of the errors for calls that are not in the recording. */
    missed: [] as string[],
  }
  const take = <S extends Slot<unknown>>(slots: readonly S[], wanted: Wanted, name: string): S => {
    const { key, tools, hash } = wanted
    statistics.calls++
    const free = slots.filter((slot) => slot.key === key && !slot.used)
    const slot = free.find((one) => one.hash === hash) ?? free.find((one) => one.tools === tools) ?? free[0]
    if (!slot) throw miss(name, slots.filter((one) => one.key === key).length)
    if (slot.hash !== hash) statistics.byPosition++
    slot.used = true
    if (slot.error) throw errorOf(slot.error)
    return slot
  }
  const miss = (name: string, recorded: number) => {
    const text =
      `The recording has no answer for call ${statistics.calls}, ${name}: ` +
      `${recorded === 0 ? 'it has no such call' : `all ${recorded} of these are used`}.`
    statistics.missed.push(text)
    return new PlatformError('RecordingMiss', 500, text)
  }
  const client: LlmClient = {
    complete: async (request) => {
      request.signal?.throwIfAborted()
      const chain = chainOf(request)
      const name =
        `chain ${chain.chain} (${chain.role} ` +
        `model${chain.tools.length > 1 ? `, tools ${chain.tools.slice(0, -1).join(', ')}` : ''})`
      const hash = await hashOf(request.messages)
      const { answer } = take(kept, { key: keyOf(chain), tools: chain.tools.join(), hash }, name)
      if (!answer) throw miss(name, 0)
      return structuredClone(answer)
    },
    search: async (query, options = {}) => {
      const wanted = { key: 'search', tools: '', hash: await sha256Hex(normalise(query)) }
      const slot = take(recordedSearches, wanted, `search "${query.slice(0, 100)}"`)
      if (slot.observed) options.observe?.(slot.observed)
      return slot.answer ?? null
    },
    canSearch: () => completions.some(({ tools }) => tools.includes('web_search')),
  }
  /** `unused` counts the recorded answers that were not used. */
  const summarise = () => ({ ...statistics, unused: [...kept, ...recordedSearches].filter(({ used }) => !used).length })
  return { ...client, statistics: summarise }
}

/** Identifies a chain by its role and final tool, because its other tools may change from call to call. */
const keyOf = ({ chain, role }: Chain): string => `${role} ${chain}`

function errorOf({ name, message, code, status }: RecordedError): Error {
  if (code !== undefined && status !== undefined) return new PlatformError(code, status, message)
  return Object.assign(new Error(message), { name })
}

/** Returns a hash of the messages, without the parts that differ from run to run. */
function hashOf(messages: readonly Message[]): Promise<string> {
  const said = messages.map((message) => {
    const calls =
      message.role === 'assistant'
        ? (message.tool_calls ?? []).map(({ name, arguments: args }) => [name, normalise(args)])
        : []
    return [message.role, message.content === null ? null : normalise(message.content), calls]
  })
  return sha256Hex(JSON.stringify(said))
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
const TIME = /\b\d{4}-\d{2}-\d{2}[T_ ]\d{2}:?\d{2}:?\d{2}(\.\d+)?(Z|[+-]\d{2}:?\d{2})?(-[0-9a-f]{4}\b)?/g
const FENCE = /(<<<DATA [^\n]*? |^)[0-9a-f]{16}(?=\n| DATA>>>|$)/gm
const PATH = /(?:\/[\w.@+-]+)*\/(?:tmp|temp|var\/folders|workspaces)\/[\w.@+/-]+/g
const LOCAL = /\b(127\.0\.0\.1|localhost):\d{2,5}\b/g
const TOOK = /\b(after|elapsed:?) (\d+m)?\d+s\b/g

/** Replaces ids of fences, UUIDs, times, temporary folders, local ports and durations by fixed words. */
export const normalise = (text: string): string =>
  text
    .replaceAll(UUID, '<uuid>')
    .replaceAll(TIME, '<time>')
    .replaceAll(FENCE, '$1<fence>')
    .replaceAll(PATH, '<path>')
    .replaceAll(LOCAL, '<local>')
    .replaceAll(TOOK, '$1 <time>')

/** Names of the two models for which the server answers, without their provider. */
export const REPLAY_MODELS = { main: 'replay-main', small: 'replay-small' } as const

/**
 * Starts a server of chat completions at `/v1` that answers from a recording. A call that is missing or failed in the
 * recording gets a 400 with the reason, because clients do not repeat those.
 */
export const startReplayModel = (llm: ReplayLlm): Promise<Running> =>
  startServer({
    maxBodyBytes: 64 * 1024 * 1024,
    respond: async ({ method, path, body }) => {
      if (method !== 'POST' || path !== '/v1/chat/completions')
        return { status: 404, body: chatError('only chat completions are played') }
      const { model, messages, tools } = readChatRequest(JSON.parse((await body()).toString('utf8')))
      const answer = await llm.complete({
        role: model === REPLAY_MODELS.small ? 'small' : 'main',
        messages: messages.map(messageOf),
        ...(tools.length > 0 && { tools: tools.map(({ name }) => ({ name, description: '', parameters: {} })) }),
      })
      return { status: 200, body: completionOf(answer) }
    },
    fail: (error) => ({
      status: error instanceof BodyTooLarge ? 413 : 400,
      body: chatError(error instanceof Error ? error.message : 'unknown error'),
    }),
  })

function messageOf({ role, text, answers, calls }: ChatMessage): Message {
  if (role === 'tool') return { role, tool_call_id: answers ?? '', content: text ?? '' }
  if (role === 'assistant') return { role, content: text, ...(calls.length > 0 && { tool_calls: calls }) }
  return { role: role === 'user' ? role : 'system', content: text ?? '' }
}

const FINISH = {
  end_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  content_filter: 'content_filter',
  repetition: 'repetition',
}

const completionOf = ({ text, tool_calls, finish, finish_raw, usage }: Inference): object =>
  chatCompletion({
    id: 'replay',
    model: 'replay',
    text,
    calls: tool_calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    finish: finish === null ? finish_raw : FINISH[finish],
    usage: { input: usage.input_tokens, output: usage.output_tokens, cached: usage.cached_tokens },
  })
