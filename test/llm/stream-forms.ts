import { crc32 } from 'node:zlib'
import { type Body, FORMS, type FormName, type Said } from './wire-forms.ts'

/** Streams of each form's answers, as the providers document them. */

const sse = (event: object, name?: string) => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(event)}\n\n`
const piecesOf = (text: string): string[] => text.match(/.{1,5}/gsu) ?? []

function chatEvents(answer: Body): string[] {
  const { choices, usage, ...head } = answer
  const [{ message, finish_reason }] = choices
  const chunk = (delta: object, end: string | null = null) =>
    sse({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: end }], usage: null })
  return [
    chunk({ role: 'assistant', content: '' }),
    ...piecesOf(message.content ?? '').map((content) => chunk({ content })),
    ...(message.tool_calls ?? []).flatMap((call: Body, index: number) => [
      chunk({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }] }),
      ...piecesOf(call.function.arguments).map((args) =>
        chunk({ tool_calls: [{ index, function: { arguments: args } }] }),
      ),
    ]),
    chunk({}, finish_reason),
    sse({ ...head, choices: [], usage }),
    'data: [DONE]\n\n',
  ]
}

function anthropicEvents({ content, stop_reason, usage, ...head }: Body): string[] {
  const blocks = content.flatMap((block: Body, index: number) => {
    const isText = block.type === 'text'
    const pieces = piecesOf(isText ? block.text : JSON.stringify(block.input))
    return [
      { type: 'content_block_start', index, content_block: isText ? { ...block, text: '' } : { ...block, input: {} } },
      ...pieces.map((piece) => ({
        type: 'content_block_delta',
        index,
        delta: isText ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece },
      })),
      { type: 'content_block_stop', index },
    ]
  })
  const { output_tokens, ...input } = usage
  return [
    {
      type: 'message_start',
      message: { ...head, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } },
    },
    { type: 'ping' },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
    { type: 'message_stop' },
  ].map((event) => sse(event, event.type))
}

function geminiEvents({ candidates: [candidate], usageMetadata }: Body): string[] {
  const { parts } = candidate.content
  const pieces = parts.flatMap((part: Body) =>
    part.text === undefined ? [part] : piecesOf(part.text).map((text) => ({ text })),
  )
  const event = (list: object[], more: object) =>
    sse({ candidates: [{ content: { role: 'model', parts: list }, index: 0, ...more }], usageMetadata })
  return [
    ...pieces.map((part: object) => event([part], {})),
    event([{ text: '' }], { finishReason: candidate.finishReason }),
  ]
}

/** The events of the Converse API, each as one frame. */
function converseFrames({ output, stopReason, usage, metrics }: Body): Uint8Array[] {
  const blocks = output.message.content.flatMap((block: Body, contentBlockIndex: number) => {
    const { toolUse } = block
    const pieces = piecesOf(toolUse ? JSON.stringify(toolUse.input) : block.text)
    const { input: _, ...start } = toolUse ?? {}
    return [
      ...(toolUse ? [['contentBlockStart', { contentBlockIndex, start: { toolUse: start } }]] : []),
      ...pieces.map((piece) => [
        'contentBlockDelta',
        { contentBlockIndex, delta: toolUse ? { toolUse: { input: piece } } : { text: piece } },
      ]),
      ['contentBlockStop', { contentBlockIndex }],
    ]
  })
  return [
    ['messageStart', { role: 'assistant' }],
    ...blocks,
    ['messageStop', { stopReason }],
    ['metadata', { usage, metrics }],
  ].map(([type, value]) => frame({ ':message-type': 'event', ':event-type': type }, value))
}

/** Makes a frame of the event stream encoding, whose headers are texts. */
export function frame(headers: Record<string, string>, value: unknown): Uint8Array {
  const content = Buffer.from(JSON.stringify(value))
  const head = Buffer.concat(
    Object.entries({ ...headers, ':content-type': 'application/json' }).map(([name, text]) => {
      const type = Buffer.from([7, 0, text.length])
      return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), type, Buffer.from(text)])
    }),
  )
  const number = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value >>> 0)
    return bytes
  }
  const lengths = Buffer.concat([number(16 + head.length + content.length), number(head.length)])
  const begun = Buffer.concat([lengths, number(crc32(lengths)), head, content])
  return Buffer.concat([begun, number(crc32(begun))])
}

/** Returns the answer as a stream that comes in pieces of seven bytes, so that letters and events are cut apart. */
export function streamOf(form: FormName, said: Said): Response {
  const answer = FORMS[form].answer(said)
  if (form === 'converse') return streamed(Buffer.concat(converseFrames(answer)), 'application/vnd.amazon.eventstream')
  const events = { chat: chatEvents, anthropic: anthropicEvents, gemini: geminiEvents }[form](answer)
  return streamed(Buffer.from(events.join('')))
}

export function streamed(bytes: Uint8Array, type = 'text/event-stream; charset=utf-8', size = 7): Response {
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (at >= bytes.byteLength) return controller.close()
      controller.enqueue(bytes.subarray(at, at + size))
      at += size
    },
  })
  return new Response(body, { headers: { 'content-type': type } })
}
