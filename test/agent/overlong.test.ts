import { describe, expect, it } from 'vitest'
import { isOverlong, shareToKeep } from '../../src/agent/fit-messages.ts'
import { PlatformError } from '../../src/base/errors.ts'

const failed = (reason: string, status = 400) =>
  new PlatformError(
    'InferenceCallAPIError',
    status,
    `Inference call to anthropic/claude-3-5-sonnet-20241022 failed: ${reason}`,
  )

describe('isOverlong', () => {
  it.each([
    ['prompt is too long: 213462 tokens > 200000 maximum'],
    [
      'input length and `max_tokens` exceed context limit: 170636 + 34048 > 200000, decrease input length or ' +
        '`max_tokens` and try again',
    ],
    ["This model's maximum context length is 128000 tokens. However, your messages resulted in 150123 tokens."],
    ['Your input exceeds the context window of this model. Please adjust your input and try again.'],
    ['The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).'],
    ["This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    ['Please reduce the length of the messages or completion.'],
    ['Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length'],
    ['Input is too long for requested model.'],
    ['too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.'],
    ['the request exceeds the available context size, try increasing it'],
    ['Your request exceeded model token limit: 262144 (requested: 566084)'],
    ["Input length (265330) exceeds model's maximum context length (262144)."],
    ['Input length 131393 exceeds the maximum allowed input length of 131040 tokens.'],
    ['Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 9000 `inputs` tokens'],
    ['The number of tokens to keep from the initial prompt is greater than the context length'],
  ])('%s', (text) => expect(isOverlong(failed(text))).toBe(true))

  it.each([
    [failed('Rate limit reached: too many tokens per minute', 429)],
    [failed('Too many tokens, please wait before trying again.', 400)],
    [failed('invalid x-api-key', 401)],
    [failed('Unsupported parameter: max_tokens', 400)],
    [failed('tools.0.name: String should match pattern', 400)],
    [new PlatformError('Other', 400, 'prompt is too long')],
    [new Error('prompt is too long')],
  ])('not %s', (error) => expect(isOverlong(error)).toBe(false))

  it('takes a status of its own for it', () => expect(isOverlong(failed('HTTP 413', 413))).toBe(true))
})

describe('keptShare', () => {
  it('comes from the numbers of the text, never from the name of the model', () => {
    expect(
      shareToKeep(failed('Your request exceeded model token limit: 262,144 (requested: 566084)').message),
    ).toBeCloseTo(0.417, 2)
    expect(shareToKeep(failed('prompt is too long: 213462 tokens > 200000 maximum').message)).toBe(0.7)
    expect(shareToKeep(failed('Input is too long for requested model.').message)).toBe(0.7)
  })
})
