import type { Status } from '../base/vocabulary.ts'

export interface SessionState {
  status: Status
  message: string | null
  in_flight: boolean
}

/**
 * One LISTEN connection per process, shared by all streams. `watch` answers the current state and
 * then calls back on each change; a lost notification is mended by one query for all watched
 * sessions every five seconds.
 */
export interface StatusHub {
  watch(
    session_uuid: string,
    on_change: (state: SessionState) => void,
  ): Promise<{ state: SessionState; close: () => void }>
  /** Ends every stream, so that clients reconnect elsewhere. */
  close(): Promise<void>
  readonly closing: AbortSignal
  readonly open_streams: number
}
