import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimateTokens } from '../../src/agent/context-budget.ts'
import { estimateMessages, fitMessages } from '../../src/agent/fit-messages.ts'
import type { Message } from '../../src/llm/inference.ts'
import { fence } from '../../src/prompts/fence.ts'

const estimate = (text: string) => estimateTokens(text, 3)
const budgetOf = (tokens: number) => ({ tokens, estimate })

const system: Message = { role: 'system', content: 'RULES' }
const turn = (user: string, assistant: string): Message[] => [
  { role: 'user', content: user },
  { role: 'assistant', content: assistant },
]
const step = (id: string, result: string, args = '{}'): Message[] => [
  { role: 'assistant', content: null, tool_calls: [{ id, name: 'read_file', arguments: args }] },
  { role: 'tool', tool_call_id: id, content: result },
]
const at = (messages: readonly Message[], index: number) => messages.at(index)?.content ?? ''

describe('fitMessages', () => {
  it('leaves what fits as it is', () => {
    const messages = [system, ...turn('a', 'b'), { role: 'user', content: 'q' } as const, ...step('1', 'r')]
    const fitted = fitMessages(messages, [3], budgetOf(10_000))
    expect(fitted).toEqual({ messages, cut: [] })
  })

  it('cuts the oldest tool results first and says how much is missing', () => {
    const query: Message = { role: 'user', content: 'The query.' }
    const messages = [
      system,
      query,
      ...step('1', 'x'.repeat(30_000)),
      ...step('2', 'y'.repeat(3_000)),
      ...step('3', 'z'.repeat(9_000)),
    ]
    const fitted = fitMessages(messages, [1], budgetOf(8_000))
    expect(fitted.cut).toEqual(['1'])
    expect(at(fitted.messages, 3)).toMatch(/^x+\n\[… 28000 characters left out …\]\nx+$/)
    expect(fitted.messages.filter((_, index) => index !== 3)).toEqual(messages.filter((_, index) => index !== 3))
  })

  it('keeps the newest turns of a long conversation', () => {
    const turns = Array.from({ length: 10 }, (_, index) =>
      turn(`request ${index} ${'x'.repeat(3_000)}`, 'Done.'),
    ).flat()
    const messages = [system, ...turns, { role: 'user', content: 'q' } as const]
    const fitted = fitMessages(messages, [messages.length - 1], budgetOf(7_000))
    expect(at(fitted.messages, 1)).toContain('left out')
    expect(at(fitted.messages, 1).startsWith('request 0')).toBe(true)
    expect(fitted.messages.slice(-5)).toEqual(messages.slice(-5))
  })

  it('keeps arguments JSON and drops what was signed with them', () => {
    const args = JSON.stringify({ target_file: 'a.tf', content: '"'.repeat(20_000) })
    const [call, answer] = step('1', 'ok', args)
    const signed = { ...call, carry: { for: 'x', data: 'signature' } } as Message
    const messages = [system, { role: 'user', content: 'q' } as const, signed, answer as Message, ...step('2', 'ok')]
    const fitted = fitMessages(messages, [1], budgetOf(3_000))
    const shown = fitted.messages[2]
    expect(shown?.role === 'assistant' && JSON.parse(shown.tool_calls?.[0]?.arguments ?? '')).toMatchObject({
      target_file: 'a.tf',
    })
    expect(shown).not.toHaveProperty('carry')
  })

  it('cuts the data of a query last, block by block', () => {
    const content = `Audit.\n\n${fence('request', 'Add a bucket')}\n\n${fence('plan', 'p'.repeat(60_000))}\n\nThe end.`
    const [fitted] = fitMessages([{ role: 'user', content }], [0], budgetOf(5_000)).messages
    expect(fitted?.content).toMatch(
      /^Audit\.\n\n<<<DATA request (\w+)\nAdd a bucket\n\1 DATA>>>\n\n<<<DATA plan (\w+)\np+\n\[… \d+ characters left out …\]\np+\n\2 DATA>>>\n\nThe end\.$/,
    )
    expect(estimateMessages(fitted ? [fitted] : [], budgetOf(0))).toBeLessThanOrEqual(5_000)
  })

  it('never exceeds a budget that the system prompt leaves room in, and keeps every call with its answer', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 50 }),
      fc.integer({ min: 0, max: 60_000 }).map((length) => 'lorem {"x"} '.repeat(length / 12)),
    )
    const data = text.map((content) => `Do it.\n\n${fence('data', content)}`)
    const calls = fc.array(fc.record({ args: text, results: fc.array(text, { minLength: 1, maxLength: 3 }) }), {
      maxLength: 6,
    })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, text), { maxLength: 6 }),
        data,
        calls,
        fc.integer({ min: 4_000, max: 60_000 }),
        (turns, query, steps, tokens) => {
          const before = [system, ...turns.flatMap(([user, assistant]) => turn(user, assistant))]
          const after = steps.flatMap(({ args, results }, index): Message[] => [
            {
              role: 'assistant',
              content: 'thinking',
              tool_calls: results.map((_, call) => ({
                id: `${index}-${call}`,
                name: 'tool',
                arguments: JSON.stringify({ args }),
              })),
            },
            ...results.map((content, call): Message => ({ role: 'tool', tool_call_id: `${index}-${call}`, content })),
          ])
          const messages: Message[] = [...before, { role: 'user', content: query }, ...after]
          const fitted = fitMessages(messages, [before.length], budgetOf(tokens))
          expect(estimateMessages(fitted.messages, budgetOf(tokens))).toBeLessThanOrEqual(tokens)
          const shape = (list: readonly Message[]) =>
            list.map((message) =>
              message.role === 'tool'
                ? message.tool_call_id
                : message.role === 'assistant'
                  ? message.tool_calls?.map(({ id }) => id)
                  : message.role,
            )
          expect(shape(fitted.messages)).toEqual(shape(messages))
          expect(fitted.messages[0]).toEqual(system)
        },
      ),
      { numRuns: 150 },
    )
  })
})
