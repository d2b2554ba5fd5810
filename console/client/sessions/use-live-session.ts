import { useQueryClient } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { STREAMS } from '../api/calls.ts'
import { followStream, type StreamState } from '../api/stream.ts'
import type { Status } from '../api/types.ts'
import { usePlatform } from '../platform.ts'
import { useVisible } from '../use-visible.ts'
import { refreshSession } from './use-session.ts'

/** What the status stream said last. */
export interface LiveStatus {
  status: Status
  message: string
}

const ENDS = ['COMPLETED', 'UNCOMPLETED', 'FAILED']

/**
 * Follows the status of a session while a round runs, and reads the session again at every change. A hidden page
 * watches nothing, because browsers allow six connections to a host that speaks HTTP/1.1.
 * @param inFlight whether a round is queued or runs
 */
export function useLiveSession(id: string, inFlight: boolean): { live: LiveStatus | null; stream: StreamState } {
  const { api } = usePlatform()
  const client = useQueryClient()
  const visible = useVisible()
  const [live, setLive] = useState<LiveStatus | null>(null)
  const [stream, setStream] = useState<StreamState>('ended')
  useEffect(() => {
    if (!inFlight || !visible) return
    const stop = new AbortController()
    let seen = ''
    followStream(api, {
      path: STREAMS.status.replace('{session_id}', encodeURIComponent(id)),
      signal: stop.signal,
      onState: setStream,
      isLast: ({ data }) => ENDS.includes(readStatus(data)?.status_msg ?? ''),
      onFrame: ({ data }) => {
        const event = readStatus(data)
        if (event === null || data === seen) return
        seen = data
        setLive({ status: event.status_msg.toLowerCase() as Status, message: event.detail?.message ?? '' })
        void refreshSession(client, id)
      },
    }).catch(() => setStream('ended'))
    return () => {
      stop.abort()
      setLive(null)
      setStream('ended')
    }
  }, [api, client, id, inFlight, visible])
  return { live, stream }
}

function readStatus(data: string): { status_msg: string; detail?: { message?: string } } | null {
  try {
    const event = JSON.parse(data)
    return typeof event?.status_msg === 'string' ? event : null
  } catch {
    return null
  }
}
