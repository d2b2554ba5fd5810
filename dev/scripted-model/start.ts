import { BodyTooLarge, type Running, type ServerAnswer, startServer } from '../server.ts'
import { readConversation } from './conversation.ts'
import { decide } from './decide.ts'
import { dialectOf, usualDialect } from './wires.ts'

export const MODEL = 'scripted-model'

/**
 * Starts a server that plays recorded work, as the model name in its answers says. It speaks chat completions at `/v1`,
 * the Messages API at `/anthropic/v1` and `generateContent` at `/gemini/v1beta`. It is stateless: the same conversation
 * always gets the same reply.
 */
export const startScriptedModel = (options: { port?: number } = {}): Promise<Running> =>
  startServer({
    port: options.port,
    maxBodyBytes: 64 * 1024 * 1024,
    respond: async ({ method, path, body }) => {
      const dialect = dialectOf(path)
      if (method === 'GET' && path === '/v1/models')
        return {
          status: 200,
          body: { object: 'list', data: [{ id: MODEL, object: 'model', owned_by: 'embedded-stack' }] },
        }
      if (method !== 'POST' || !dialect) return refuse(404, path, 'only chat completions are served here')
      const question = dialect.read(JSON.parse((await body()).toString('utf8')) as Record<string, unknown>)
      return { status: 200, body: dialect.answer(question, decide(readConversation(question)), MODEL) }
    },
    fail: (error, { path }) =>
      error instanceof RangeError
        ? refuse(400, path, error.message)
        : refuse(error instanceof BodyTooLarge ? 413 : 400, path, 'the body could not be read'),
  })

const refuse = (status: number, path: string, message: string): ServerAnswer => ({
  status,
  body: (dialectOf(path) ?? usualDialect).error(status, message),
})
