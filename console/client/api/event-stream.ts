import { type Api, ApiError } from './client.ts'

export type StreamState = 'connecting' | 'open' | 'waiting' | 'ended'

interface StreamOptions {
  path: string
  query?: Record<string, string | number | undefined>
  /** The signal that ends the stream. */
  signal: AbortSignal
  onFrame(frame: Frame): void
  /** Returns true for the last frame, after which the connection may end. */
  isLast(frame: Frame): boolean
  onState?(state: StreamState): void
}

const FIRST_WAIT_MS = 500
/** The platform sends something every 15 seconds, so a connection that is silent for longer is dead. */
const SILENCE_MS = 40_000

/**
 * Follows an event stream to its end over any number of connections. Each resumes after the last frame with an id.
 * Throws `ApiError` when the platform refuses the stream (401, 403, 404, 422) and retries after any other fault.
 */
export async function followStream(api: Api, options: StreamOptions): Promise<void> {
  const { signal, onState = () => {} } = options
  let lastId = ''
  let wait = FIRST_WAIT_MS
  while (!signal.aborted) {
    onState('connecting')
    try {
      const ended = await followConnection(api, options, lastId, (frame) => {
        wait = FIRST_WAIT_MS
        if (frame.id !== '') lastId = frame.id
        options.onFrame(frame)
      })
      if (ended) return onState('ended')
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) throw error
    }
    onState('waiting')
    await pause(wait, api, signal)
    wait = Math.min(wait * 2, 10_000)
  }
}

/** Reads one connection; returns true when the last frame of the stream arrived. */
async function followConnection(
  api: Api,
  { path, query, signal, onState, isLast }: StreamOptions,
  lastId: string,
  onFrame: (frame: Frame) => void,
): Promise<boolean> {
  const silence = new AbortController()
  const listen = () => setTimeout(() => silence.abort(), SILENCE_MS)
  let alarm = listen()
  const headers: Record<string, string> = { accept: 'text/event-stream' }
  if (lastId !== '') headers['last-event-id'] = lastId
  let reader: ReadableStreamDefaultReader<string> | undefined
  try {
    const limits = AbortSignal.any([signal, silence.signal])
    const response = await api.send({ method: 'GET', path, query, headers, signal: limits })
    onState?.('open')
    reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    const read = createFrameReader()
    while (reader) {
      const { done, value } = await reader.read()
      if (done) return false
      clearTimeout(alarm)
      alarm = listen()
      for (const frame of read(value)) {
        onFrame(frame)
        if (isLast(frame)) return true
      }
    }
    return false
  } finally {
    clearTimeout(alarm)
    reader?.cancel().catch(() => {})
  }
}

/** Waits, but not longer than until the platform answers again or the signal is aborted. */
const pause = (ms: number, { connection }: Api, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(end, ms)
    const unsubscribe = connection.subscribe(() => connection.get().online && end())
    signal.addEventListener('abort', end)
    function end() {
      clearTimeout(timer)
      unsubscribe()
      signal.removeEventListener('abort', end)
      resolve()
    }
  })

/** One frame of an event stream. `event` is empty for a frame without a type. */
export interface Frame {
  id: string
  event: string
  data: string
}

const LINE_END = /\r\n|\r|\n/

/**
 * Returns a function that takes chunks of text, cut anywhere, and returns completed frames, without comments. Lines end
 * with LF, CR LF or CR, as the standard allows.
 */
export function createFrameReader(): (text: string) => Frame[] {
  let line: string[] = []
  let block: string[] = []
  let endedByCr = false
  return (text) => {
    if (text === '') return []
    const [first = '', ...more] = (endedByCr && text.startsWith('\n') ? text.slice(1) : text).split(LINE_END)
    endedByCr = text.endsWith('\r')
    line.push(first)
    const frames: Frame[] = []
    for (const next of more) {
      const whole = line.join('')
      line = [next]
      if (whole !== '') {
        block.push(whole)
        continue
      }
      const frame = readBlock(block)
      block = []
      if (frame) frames.push(frame)
    }
    return frames
  }
}

function readBlock(block: readonly string[]): Frame | null {
  const frame: Frame = { id: '', event: '', data: '' }
  const data: string[] = []
  for (const line of block) {
    const [, name, value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? []
    if (name === 'data') data.push(value)
    else if (name === 'id' || name === 'event') frame[name] = value
  }
  if (data.length === 0) return null
  frame.data = data.join('\n')
  return frame
}
