import { styleText } from 'node:util'
import { isJsonObject, type Json, parseJson } from '../../src/base/json.ts'

const WIDTH = 6
const COLOURS = { core: 'cyan', worker: 'magenta', iac: 'yellow', stack: 'gray' } as const
export type LogSource = keyof typeof COLOURS

/** Formats a structured log line for people; null for a line of level debug. Any other line is returned as it is. */
export function formatLogLine(process: LogSource, line: string): string | null {
  const label = styleText(COLOURS[process], process.padEnd(WIDTH))
  const entry = parseJson(line)
  if (!isJsonObject(entry) || typeof entry.message !== 'string') return `${label} ${line}`
  const { time, level, message, process: _, service: __, error, ...fields } = entry
  if (level === 'debug') return null
  const clock = typeof time === 'string' ? time.slice(11, 19) : ''
  const details = Object.entries(fields)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
  const fault = error === undefined ? '' : `: ${faultText(error)}`
  const mark = level === 'warn' || level === 'error' ? `${level} ` : ''
  const words = `${mark}${message}${fault}`
  const text = mark === '' ? words : styleText(level === 'warn' ? 'yellow' : 'red', words)
  return [label, styleText('gray', clock), text, styleText('gray', details)].filter(Boolean).join(' ')
}

function faultText(error: Json): string {
  if (!isJsonObject(error)) return String(error)
  const { message, cause } = error
  return [message, typeof cause === 'string' ? cause : undefined].filter(Boolean).join(' / ') || JSON.stringify(error)
}
