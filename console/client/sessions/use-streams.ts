import { useQueryClient } from '@tanstack/preact-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type ActivityEvent, messageOf, type OutputEvent, STREAMS, type Status } from '../api/client.ts'
import { followStream, type StreamState } from '../api/event-stream.ts'
import { parseJson } from '../json.ts'
import { usePlatform } from '../platform.ts'
import { refreshSession } from './use-session.ts'

export interface RoundEvents<Event> {
  /** The events in their order, each once. */
  events: readonly Event[]
  stream: StreamState
  /** The status with which the round ended; null while it runs. */
  end: string | null
  /** The reason why the stream cannot be read. */
  error: string | null
}

interface Options {
  /** The number of the round in its session. */
  round: number
  /** False to read nothing and keep what was read. */
  enabled?: boolean
}

/** Returns the activity events of a round, and follows them while it runs. */
export const useActivity = (id: string, options: Options) => useEvents<ActivityEvent>('activity', id, options)

/** Returns the engine output of a round, and follows it while it runs. */
export const useOutput = (id: string, options: Options) => useEvents<OutputEvent>('output', id, options)

const NOTHING = { events: [], stream: 'ended', end: null, error: null } as const

function useEvents<Event extends { id: number }>(
  name: 'activity' | 'output',
  sessionId: string,
  { round, enabled = true }: Options,
): RoundEvents<Event> {
  const { api } = usePlatform()
  const visible = useVisible()
  const [shown, setShown] = useState<RoundEvents<Event>>(NOTHING)
  const events = useRef<Event[]>([])
  const over = useRef(false)
  useEffect(() => {
    events.current = []
    over.current = false
    setShown(NOTHING)
  }, [sessionId, round, name])
  useEffect(() => {
    if (!enabled || !visible || over.current) return
    const stop = new AbortController()
    const show = oncePerFrame(() => setShown((before) => ({ ...before, events: [...events.current] })))
    followStream(api, {
      path: STREAMS[name].replace('{session_id}', encodeURIComponent(sessionId)),
      query: { round, after: events.current.at(-1)?.id },
      signal: stop.signal,
      isLast: ({ event }) => event === 'end',
      onState: (stream) => setShown((before) => ({ ...before, stream })),
      onFrame: ({ event, data }) => {
        if (event === 'end') {
          over.current = true
          setShown((before) => ({ ...before, end: String((JSON.parse(data) as { status?: unknown }).status ?? '') }))
          return
        }
        const next = JSON.parse(data) as Event
        if (next.id <= (events.current.at(-1)?.id ?? -1)) return
        events.current.push(next)
        show()
      },
    }).catch((error: unknown) => setShown((before) => ({ ...before, stream: 'ended', error: messageOf(error) })))
    return () => stop.abort()
  }, [api, name, sessionId, round, enabled, visible])
  return shown
}

/** Returns a function that runs at most once per frame, because many events arrive at once. */
function oncePerFrame(run: () => void): () => void {
  let waiting = false
  return () => {
    if (waiting) return
    waiting = true
    requestAnimationFrame(() => {
      waiting = false
      run()
    })
  }
}

/**
 * Follows the status of a session while a round is in flight, and reads the session at every change. A hidden page does
 * not, because browsers allow only six HTTP/1.1 connections to a host. Returns the last event of the stream, or null.
 */
export function useLiveSession(id: string, inFlight: boolean) {
  const { api } = usePlatform()
  const client = useQueryClient()
  const visible = useVisible()
  const [live, setLive] = useState<{ status: Status; message: string } | null>(null)
  useEffect(() => {
    if (!inFlight || !visible) return
    const stop = new AbortController()
    let seen = ''
    followStream(api, {
      path: STREAMS.status.replace('{session_id}', encodeURIComponent(id)),
      signal: stop.signal,
      isLast: ({ data }) => ['COMPLETED', 'UNCOMPLETED', 'FAILED'].includes(readStatus(data)?.status_msg ?? ''),
      onFrame: ({ data }) => {
        const event = readStatus(data)
        if (event === null || data === seen) return
        seen = data
        setLive({ status: event.status_msg.toLowerCase() as Status, message: event.detail?.message ?? '' })
        void refreshSession(client, id)
      },
    }).catch(() => {})
    return () => {
      stop.abort()
      setLive(null)
    }
  }, [api, client, id, inFlight, visible])
  return live
}

function readStatus(data: string): { status_msg: string; detail?: { message?: string } } | null {
  const event = parseJson(data) as ReturnType<typeof readStatus>
  return typeof event?.status_msg === 'string' ? event : null
}

/** The time after which a page counts as hidden, so that a short switch of tabs costs no connection. */
const HIDDEN_AFTER_MS = 15_000

function useVisible(): boolean {
  const [visible, setVisible] = useState(!document.hidden)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      clearTimeout(timer)
      if (document.hidden) timer = setTimeout(() => setVisible(false), HIDDEN_AFTER_MS)
      else setVisible(true)
    }
    document.addEventListener('visibilitychange', look)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
  return visible
}
