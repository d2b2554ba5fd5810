export interface StreamEvent {
  status_msg: string
  detail: { message: string }
}

export interface StreamReader {
  /** Reads raw text up to and including the next blank line; null at the end. */
  frame(): Promise<string | null>
  /** Reads the next data event; null at the end. */
  event(): Promise<StreamEvent | null>
  rest(): Promise<StreamEvent[]>
  leave(): Promise<void>
}

export function readStream(response: Response): StreamReader {
  if (!response.body) throw new Error('the answer has no body')
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let buffered = ''
  const frame = async (): Promise<string | null> => {
    for (;;) {
      const end = buffered.indexOf('\n\n')
      if (end >= 0) {
        const found = buffered.slice(0, end + 2)
        buffered = buffered.slice(end + 2)
        return found
      }
      const { done, value } = await reader.read()
      if (done) {
        if (buffered !== '') throw new Error(`the stream ends inside of a frame: ${buffered}`)
        return null
      }
      buffered += value
    }
  }
  const event = async (): Promise<StreamEvent | null> => {
    for (let found = await frame(); found !== null; found = await frame())
      if (found.startsWith('data: ')) return JSON.parse(found.slice('data: '.length))
    return null
  }
  const rest = async () => {
    const events: StreamEvent[] = []
    for (let found = await event(); found !== null; found = await event()) events.push(found)
    return events
  }
  return { frame, event, rest, leave: () => reader.cancel() }
}
