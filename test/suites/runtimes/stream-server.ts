import { createServer, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { listen } from '../../../dev/server.ts'

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const call = (index: number, name: string) =>
  chunk({ tool_calls: [{ index, id: `call_${index}`, function: { name, arguments: '{}' } }] })
const END = `${chunk({}, 'stop')}data: [DONE]\n\n`

/** Starts a model server whose streams behave as the name of the model says. */
export async function startStreamServer() {
  const told = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const STREAMS: Record<string, (response: ServerResponse) => Promise<void> | void> = {
    letters: async (response) => {
      for (const byte of Buffer.from(chunk({ content: 'Größe: 5 € für 日本 🙂' }) + END)) {
        response.write(Uint8Array.of(byte))
        await new Promise(setImmediate)
      }
      response.end()
    },
    calls: async (response) => {
      response.write(call(0, 'first') + call(1, 'second'))
      await told.promise
      response.end(END)
    },
    breaks: (response) => void response.write(chunk({ content: 'Half' }), () => response.destroy()),
    stalls: (response) => void response.write(chunk({ content: 'Half' })),
    endless: async (response) => {
      response.on('close', closed.resolve)
      while (!response.destroyed) {
        response.write(chunk({ content: 'again and again ' }))
        await new Promise(setImmediate)
      }
    },
  }
  const server = createServer(async (request, response) => {
    if (request.url === '/told') told.resolve()
    if (request.url === '/closed') await closed.promise
    if (request.method === 'GET') return response.end()
    const { model, stream } = (await json(request)) as { model: string; stream?: boolean }
    if (stream) await STREAMS[model]?.(response.writeHead(200, { 'content-type': 'text/event-stream' }))
    else {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }]
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices }))
    }
  })
  return await listen(server)
}
