import { expect, it } from 'vitest'
import { askText } from '../../src/agent/model-call.ts'
import { silentLogger } from '../../src/base/log.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import { modelConfig, script, startModelServer, text } from '../helpers/model-server.ts'

it('asks once, without tools, and takes a cut text too', async () => {
  const server = await startModelServer(script(text(' Checking your netw\n', 'length')))
  const events: string[] = []
  try {
    const answer = await askText({
      llm: createLlmClient(modelConfig(server.url), { fetch, log: silentLogger }),
      chain: 'STATUS_UPDATE',
      role: 'small',
      system: 'tone',
      query: 'message',
      conversation: [{ user: 'u', assistant: 'a' }],
      signal: new AbortController().signal,
      observe: (event) => events.push(event.type),
    })
    expect(answer).toBe('Checking your netw')
    expect(events).toEqual(['inference'])
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]?.body).not.toHaveProperty('tools')
    expect(server.requests[0]?.body.messages.map((message) => message.content)).toEqual(['tone', 'u', 'a', 'message'])
  } finally {
    await server.close()
  }
})
