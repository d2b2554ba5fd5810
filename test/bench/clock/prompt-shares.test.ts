import { expect, test } from 'vitest'
import { kindsOf, knownOfChains, knownOfRound, shareOf } from '../../../bench/clock/prompt-shares.ts'
import { countTokens, layOut } from '../../../dev/scripted-model/clock.ts'
import type { Question } from '../../../dev/scripted-model/conversation.ts'
import { fence } from '../../../src/prompts/layout.ts'

type Message = Question['messages'][number]
const say = (role: Message['role'], text: string, more: Partial<Message> = {}): Message => ({
  ...{ role, text, answers: null, calls: [] },
  ...more,
})
const ask = (messages: Message[], model = 'main', tools: Question['tools'] = []): Question => ({
  ...{ model, stream: false, messages, tools },
})
const RULES = say('system', '## Role\n\nYou write.\n\n## Rules\n\n1. Do.\n\n## Networking\n\nPrivate subnets only.\n')
const QUERY = say(
  'user',
  `Carry out:\n\n${fence('request', 'a queue')}\n\n${fence('relevant files', 'x = 1\n'.repeat(40))}`,
)

test('the parts of a call are told apart', () => {
  const read = { id: 'c1', name: 'read_file', arguments: '{"target_file":"a.tf"}' }
  const question = ask(
    [
      RULES,
      say('user', 'earlier'),
      say('assistant', 'done'),
      QUERY,
      say('assistant', null as unknown as string, { calls: [read] }),
      say('tool', 'y = 2\n'.repeat(20), { answers: 'c1' }),
    ],
    'main',
    [{ name: 'read_file' }],
  )
  const shares = kindsOf(question)
  expect(shares.tools).toBe(countTokens('{"name":"read_file"}'))
  expect(shares.conventions).toBe(countTokens('## Networking\n\nPrivate subnets only.\n'))
  expect(shares.files).toBeGreaterThan(countTokens('x = 1\n'.repeat(40)) + countTokens('y = 2\n'.repeat(20)) - 1)
  expect(shares.history).toBeGreaterThan(countTokens('earlier') + countTokens('done'))
  expect(shares).toMatchObject({ tree: 0, plan: 0 })
  expect(shares.task).toBeGreaterThan(0)
})

test('the share of a chain counts from its second call, against the call before it', () => {
  const first = ask([RULES, QUERY])
  const next = ask([RULES, QUERY, say('assistant', 'text'), say('user', 'more')])
  const shortened = ask([RULES, say('user', 'Carry out:cut')])
  const calls = [
    { chain: 'A', question: first },
    { chain: 'B', question: ask([say('user', 'other')]) },
    { chain: 'A', question: next },
  ]
  const chains = knownOfChains(calls)
  expect([...chains.keys()]).toEqual(['A'])
  expect(chains.get('A')).toEqual({ calls: 1, length: layOut(next).length, known: layOut(first).length })
  // What was cut ends the beginning that both share.
  const all = knownOfChains([...calls, { chain: 'A', question: shortened }]).get('A')
  const shared = layOut(shortened).indexOf('cut')
  expect(all?.known).toBe(layOut(first).length + shared)
  expect(shareOf({ length: 200, known: 50 })).toBe(0.25)
})

test('the share of a round counts what any earlier call to the same model began with', () => {
  const calls = [
    { chain: 'A', question: ask([RULES, QUERY]) },
    { chain: 'A', question: ask([RULES, QUERY], 'small') },
    { chain: 'B', question: ask([RULES, QUERY]) },
  ]
  const length = layOut(ask([RULES, QUERY])).length
  expect(knownOfRound(calls)).toEqual({ calls: 3, length: 3 * length, known: length })
})
