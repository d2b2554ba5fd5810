import { createServer } from 'node:http'
import { BodyTooLarge, listen, type Running, readBody } from '../server.ts'
import { readConversation } from './conversation.ts'
import { decide } from './decide.ts'
import { dialectOf, usualDialect } from './wires.ts'

export const MODEL = 'scripted-model'

/**
 * Starts a server that plays recorded work; the model name in its answers says so. It speaks chat completions at `/v1`,
 * the Messages API at `/anthropic/v1` and `generateContent` at `/gemini/v1beta`. The same conversation always gets the
 * same reply, because nothing is remembered between requests.
 * @param options.delayMs pause before each answer
 */
export async function startScriptedModel(options: { port?: number; delayMs?: number } = {}): Promise<Running> {
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const dialect = dialectOf(path)
    const reply = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const refuse = (status: number, message: string) => reply(status, (dialect ?? usualDialect).error(status, message))
    try {
      if (request.method === 'GET' && path === '/v1/models')
        return reply(200, { object: 'list', data: [{ id: MODEL, object: 'model', owned_by: 'embedded-stack' }] })
      if (request.method !== 'POST' || !dialect) return refuse(404, 'only chat completions are served here')
      const body = JSON.parse((await readBody(request, 64 * 1024 * 1024)).toString('utf8')) as Record<string, unknown>
      const question = dialect.read(body)
      if (options.delayMs) await new Promise((resolve) => setTimeout(resolve, options.delayMs))
      reply(200, dialect.answer(question, decide(readConversation(question)), MODEL))
    } catch (error) {
      if (error instanceof RangeError) refuse(400, error.message)
      else refuse(error instanceof BodyTooLarge ? 413 : 400, 'the body could not be read')
    }
  })
  return listen(server, { port: options.port })
}
