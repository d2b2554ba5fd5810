import { serve } from '../src/runtime/serve.ts'

/** The baseline of an event stream: a bare `ReadableStream` for each reader, with a frame every five seconds. */
const encoder = new TextEncoder()
const KEEP_ALIVE = encoder.encode(': keepalive\n\n')
const FRAME = encoder.encode(`data: ${JSON.stringify({ status_msg: 'GENERATING', detail: { message: '' } })}\n\n`)
const open = new Set<ReadableStreamDefaultController<Uint8Array>>()

const server = await serve(
  () => {
    let own: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        own = controller
        open.add(controller)
        controller.enqueue(KEEP_ALIVE)
        controller.enqueue(FRAME)
      },
      cancel: () => void open.delete(own),
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  },
  { port: Number(process.env.PLATFORM_PORT), hostname: '127.0.0.1' },
)
setInterval(() => {
  for (const controller of open) controller.enqueue(FRAME)
}, 5_000)
console.log(JSON.stringify({ message: 'core ready', address: server.url }))
