import { isJsonObject } from '../base/json.ts'
import { readUsage } from './answer.ts'
import type { ReplyProgress, Usage } from './inference.ts'
import { createRepetitionCheck } from './repetition.ts'
import { countOthers, tokensOf } from './tokens.ts'
import type { Watch } from './wire/read-stream.ts'

/** Average letters of a token, for the usage of streams that did not come to their end. */
const CHARS_PER_TOKEN = 3.5
/** An answer with more letters than this for each token that it may have is beyond its limit, whatever the text. */
const MOST_CHARS_PER_TOKEN = 8

export type ReplyWatch = ReturnType<typeof createReplyWatch>

/** What is read of the body of a request. */
export interface WatchedBody {
  stream?: boolean
  max_tokens?: number | null
  max_completion_tokens?: number | null
}

/**
 * Creates the watch of one attempt. It cuts an answer that repeats itself, and one that is longer than it may be,
 * because not every server keeps to the limit.
 * @param body the request as a chat completion
 */
export function createReplyWatch(
  body: WatchedBody,
  { idleMs, progress }: { idleMs: number; progress?: Pick<ReplyProgress, 'call'> },
) {
  const limit = (body.max_tokens ?? body.max_completion_tokens ?? Number.POSITIVE_INFINITY) * MOST_CHARS_PER_TOKEN
  const repeats = createRepetitionCheck()
  let partial: (() => unknown) | null = null
  let length = 0
  let others = 0
  let cut: 'repetition' | 'length' | null = null
  const watch: Watch = {
    isAsked: true,
    idleMs,
    begin: (read) => {
      partial = read
    },
    isCut: () => cut !== null,
    text: (piece) => {
      if (piece === '') return
      length += piece.length
      others += countOthers(piece)
      if (repeats(piece)) cut ??= 'repetition'
      else if (length > limit) cut ??= 'length'
    },
    call: (call) => progress?.call(call),
  }
  /** Completes what the provider told of the usage by estimates; null when nothing came as a stream. */
  const usage = ({ isWhole }: { isWhole: boolean }): Usage | null => {
    if (!partial) return null
    const told = readUsage(partial())
    const sent = JSON.stringify(body)
    const isTold = isWhole && cut === null && told.output_tokens > 0
    return {
      ...told,
      input_tokens: told.input_tokens || tokensOf(sent.length, countOthers(sent), CHARS_PER_TOKEN),
      output_tokens: isTold
        ? told.output_tokens
        : Math.max(told.output_tokens, tokensOf(length, others, CHARS_PER_TOKEN)),
    }
  }
  /** Gives an answer that was cut the reason of its end. */
  const finish = (answer: unknown): unknown => {
    if (cut === null || !isJsonObject(answer) || !Array.isArray(answer.choices)) return answer
    const ended = { finish_reason: cut }
    return {
      ...answer,
      choices: answer.choices.map((choice) => (isJsonObject(choice) ? { ...choice, ...ended } : choice)),
    }
  }
  return { watch, usage, finish }
}
