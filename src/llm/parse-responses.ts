import * as v from 'valibot'
import { CallFailure } from './call-failure.ts'
import { refuseError } from './parse-answer.ts'
import type { Usage } from './types.ts'

const count = v.nullish(v.number(), 0)
const answerSchema = v.object({
  output: v.array(
    v.object({
      type: v.string(),
      content: v.nullish(v.array(v.object({ type: v.string(), text: v.nullish(v.string(), '') })), []),
    }),
  ),
  usage: v.nullish(
    v.object({
      input_tokens: count,
      output_tokens: count,
      input_tokens_details: v.nullish(v.object({ cached_tokens: count })),
    }),
  ),
})

/** The text of a responses-style answer; searches and reasoning in between are passed over. Errors: `CallFailure`. */
export function parseResponses(answer: unknown): { text: string; usage: Usage } {
  const parsed = v.safeParse(answerSchema, answer)
  if (!parsed.success) {
    refuseError(answer)
    throw new CallFailure('the answer is not a response', 502, { retryable: true })
  }
  const { output, usage } = parsed.output
  return {
    text: output
      .filter((item) => item.type === 'message')
      .flatMap((item) => item.content.filter((part) => part.type === 'output_text').map((part) => part.text))
      .join(''),
    usage: {
      input_tokens: usage?.input_tokens ?? 0,
      cached_tokens: usage?.input_tokens_details?.cached_tokens ?? 0,
      output_tokens: usage?.output_tokens ?? 0,
    },
  }
}
