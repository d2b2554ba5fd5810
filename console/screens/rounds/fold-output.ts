import type { OutputEvent } from '../../client/api/schemas.ts'
import { excerpt } from '../../ui/words.ts'

/** A piece of the output of an engine job, small enough to be drawn only while it is visible. */
export interface OutputBlock {
  key: string
  kind: 'head' | 'text' | 'foot' | 'cut'
  step: string
  stream: 'stdout' | 'stderr'
  text: string
  lines: number
  exit_code: number | null
  seconds: number | null
}

const LINES = 200
const LINE_LENGTH = 4_000

/** Returns a function that folds all events so far into blocks and reads each once, as a round prints up to 16 MiB. */
export function createOutputFolder(): (events: readonly OutputEvent[]) => OutputBlock[] {
  let blocks: OutputBlock[] = []
  let taken = 0
  let first: number | undefined
  return (events) => {
    if (events.length < taken || events[0]?.id !== first) {
      blocks = []
      taken = 0
      first = events[0]?.id
    }
    const fresh = events.slice(taken)
    taken = events.length
    if (fresh.length > 0) blocks = [...blocks]
    for (const event of fresh) take(blocks, event)
    return blocks
  }
}

const block = (event: OutputEvent, kind: OutputBlock['kind'], more: Partial<OutputBlock> = {}): OutputBlock => ({
  key: `${event.id}-${more.key ?? 0}`,
  kind,
  step: 'step' in event ? event.step : '',
  stream: more.stream ?? 'stdout',
  text: more.text ?? '',
  lines: more.lines ?? 0,
  exit_code: more.exit_code ?? null,
  seconds: more.seconds ?? null,
})

function take(blocks: OutputBlock[], event: OutputEvent): void {
  if (event.type === 'step.began') blocks.push(block(event, 'head'))
  else if (event.type === 'step.ended')
    blocks.push(block(event, 'foot', { exit_code: event.exit_code, seconds: event.seconds }))
  else if (event.type === 'cut') blocks.push(block(event, 'cut'))
  else if (event.type === 'lines') takeLines(blocks, event)
}

function takeLines(blocks: OutputBlock[], event: Extract<OutputEvent, { type: 'lines' }>): void {
  const { stream, step } = event
  for (const [index, text] of inChunks(event.text).entries()) {
    const lines = countLines(text)
    const last = blocks.at(-1)
    const fits = last?.kind === 'text' && last.stream === stream && last.step === step && last.lines + lines <= LINES
    if (fits) blocks[blocks.length - 1] = { ...last, text: `${last.text}\n${text}`, lines: last.lines + lines }
    else blocks.push(block(event, 'text', { key: String(index), stream, text, lines }))
  }
}

const countLines = (text: string): number => text.split('\n').length

/** Splits a text into pieces of at most 200 lines and cuts lines that are too long to be drawn. */
export function inChunks(text: string): string[] {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/)
  const chunks: string[] = []
  for (let at = 0; at < lines.length; at += LINES)
    chunks.push(
      lines
        .slice(at, at + LINES)
        .map((line) => excerpt(line, LINE_LENGTH))
        .join('\n'),
    )
  return chunks
}
