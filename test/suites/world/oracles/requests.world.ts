import { describe, expect, it } from 'vitest'
import { ANTHROPIC } from './clients/anthropic.ts'
import { BEDROCK } from './clients/bedrock.ts'
import { CHAT } from './clients/chat.ts'
import { GOOGLE } from './clients/google.ts'
import { MISTRAL } from './clients/mistral.ts'
import type { Oracle } from './clients/types.ts'
import { CALLS, OPENING, RESULTS, TOOLS } from './conversation.ts'
import { differences, interceptor, ourClient, type Sent, understood } from './exchange.ts'

const serve = interceptor()

/** Address, method, headers and body of a request, as far as the two sides must agree on them. */
const essence = ({ method, url, headers, body }: Sent, names: readonly string[]) => ({
  method,
  url,
  headers: Object.fromEntries(
    ['content-type', ...names].map((name) => [name, (headers.get(name) ?? '').split(';')[0]]),
  ),
  ...body,
})

/** The differences that no entry allows; an entry that allows nothing is a difference too. */
function unexplained(ours: Sent[], theirs: Sent[], { headers, allowed }: Oracle): Record<string, string> {
  const unused = new Set(Object.keys(allowed))
  const found: Record<string, string> = {}
  expect(ours.length).toBe(theirs.length)
  for (const [index, one] of ours.entries()) {
    const other = theirs[index]
    if (!other) continue
    for (const [path, text] of Object.entries(differences(essence(one, headers), essence(other, headers)))) {
      const pattern = Object.keys(allowed).find((candidate) => new RegExp(candidate).test(path))
      if (pattern) unused.delete(pattern)
      else found[`request ${index + 1}: ${path}`] = text
    }
  }
  return { ...found, ...Object.fromEntries([...unused].map((pattern) => [pattern, 'is allowed but does not occur'])) }
}

describe.each(
  [...CHAT, ...ANTHROPIC, ...GOOGLE, ...BEDROCK, ...MISTRAL].map((one) => [one.name, one] as const),
)('%s', (_, oracle) => {
  it('is asked, answers and is told the results alike', async () => {
    const theirSent = serve({ body: oracle.called })
    const theirAnswer = await oracle.begin()
    await oracle.goOn(theirAnswer)

    const ourSent = serve({ body: oracle.called })
    const client = ourClient(oracle.ours)
    const answer = await client.complete({ role: 'main', messages: OPENING, tools: TOOLS })
    await client.complete({
      role: 'main',
      tools: TOOLS,
      messages: [
        ...OPENING,
        { role: 'assistant', content: answer.text, tool_calls: answer.tool_calls, carry: answer.carry },
        ...CALLS.map(({ id }, index) => ({
          role: 'tool' as const,
          tool_call_id: answer.tool_calls[index]?.id ?? id,
          content: RESULTS[index] ?? '',
        })),
      ],
    })
    expect(understood(answer)).toEqual(oracle.read(theirAnswer))
    expect(unexplained(ourSent, theirSent, oracle)).toEqual({})
  })
})
