const WIDTH = 6
const COLOURS: Record<string, string> = { core: '36', worker: '35', iac: '33', stack: '90' }
const LEVELS: Record<string, string> = { warn: '33', error: '31' }

const paint = (colour: string | undefined, text: string, on: boolean) =>
  on && colour ? `\u001b[${colour}m${text}\u001b[0m` : text

/** Formats a structured log line for people; null for a line of level debug. Any other line is returned as it is. */
export function formatLogLine(process: string, line: string, colours: boolean): string | null {
  const label = paint(COLOURS[process], process.padEnd(WIDTH), colours)
  const entry = parse(line)
  if (!entry) return `${label} ${line}`
  const { time, level, message, process: _, service: __, error, ...fields } = entry
  if (level === 'debug') return null
  const clock = typeof time === 'string' ? time.slice(11, 19) : ''
  const details = Object.entries(fields)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
  const fault = error === undefined ? '' : `: ${faultText(error)}`
  const mark = level === 'warn' || level === 'error' ? `${level} ` : ''
  const text = paint(LEVELS[String(level)], `${mark}${String(message)}${fault}`, colours)
  return [label, paint('90', clock, colours), text, paint('90', details, colours)].filter(Boolean).join(' ')
}

function parse(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null
  try {
    const value = JSON.parse(line) as Record<string, unknown>
    return typeof value.message === 'string' ? value : null
  } catch {
    return null
  }
}

function faultText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, cause } = error as { message?: unknown; cause?: unknown }
  return [message, typeof cause === 'string' ? cause : undefined].filter(Boolean).join(' / ') || JSON.stringify(error)
}
