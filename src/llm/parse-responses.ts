import * as v from 'valibot'
import { CallFailure } from './call-failure.ts'
import { refuseError } from './parse-answer.ts'

const answerSchema = v.object({
  output: v.array(
    v.object({
      type: v.string(),
      content: v.nullish(v.array(v.object({ type: v.string(), text: v.nullish(v.string(), '') })), []),
    }),
  ),
})

/** The text of a responses-style answer; searches and reasoning in between are passed over. Errors: `CallFailure`. */
export function parseResponsesText(answer: unknown): string {
  const parsed = v.safeParse(answerSchema, answer)
  if (!parsed.success) {
    refuseError(answer)
    throw new CallFailure('the answer is not a response', 502, { retryable: true })
  }
  return parsed.output.output
    .filter((item) => item.type === 'message')
    .flatMap((item) => item.content.filter((part) => part.type === 'output_text').map((part) => part.text))
    .join('')
}
