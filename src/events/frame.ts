import { type Status, TERMINAL_STATUSES } from '../base/vocabulary.ts'
import type { SessionState } from './types.ts'

const encoder = new TextEncoder()
export const KEEP_ALIVE: Uint8Array<ArrayBuffer> = encoder.encode(': keepalive\n\n')

const TERMINAL: readonly Status[] = TERMINAL_STATUSES
/** Nothing more will happen: only then may a terminal status be sent, and the stream end. */
export const isFinal = (state: SessionState) => !state.in_flight && TERMINAL.includes(state.status)
/** A terminal status of an earlier round while the next one is queued must not be shown. */
export const isStale = (state: SessionState) => state.in_flight && TERMINAL.includes(state.status)

/** One event: one line of JSON, the message without its double quotes. */
export function dataFrame(state: SessionState): Uint8Array<ArrayBuffer> {
  const message = (state.message ?? '').replaceAll('"', '')
  return encoder.encode(`data: ${JSON.stringify({ status_msg: state.status.toUpperCase(), detail: { message } })}\n\n`)
}
