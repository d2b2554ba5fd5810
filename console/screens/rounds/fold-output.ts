import type { OutputEvent } from '../../client/api/client.ts'
import { excerpt } from '../../ui/words.ts'

const EMPTY = { step: '', stream: 'stdout', text: '', lines: 0, exit_code: null, seconds: null }
const KINDS = { 'step.began': 'head', lines: 'text', 'step.ended': 'foot', cut: 'cut' } as const

/** A piece of the output of an engine job, small enough to be drawn only while it is visible. */
export interface OutputBlock extends Omit<typeof EMPTY, 'exit_code' | 'seconds'> {
  key: string
  kind: (typeof KINDS)[keyof typeof KINDS]
  exit_code: number | null
  seconds: number | null
}

const LINES = 200

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

function take(blocks: OutputBlock[], event: OutputEvent): void {
  const kind = KINDS[event.type]
  if (event.type !== 'lines') {
    if (kind) blocks.push({ ...EMPTY, ...event, key: `${event.id}`, kind })
    return
  }
  const { stream, step } = event
  for (const [index, text] of inChunks(event.text).entries()) {
    const lines = text.split('\n').length
    const last = blocks.at(-1)
    const fits = last?.kind === 'text' && last.stream === stream && last.step === step && last.lines + lines <= LINES
    if (fits) blocks[blocks.length - 1] = { ...last, text: `${last.text}\n${text}`, lines: last.lines + lines }
    else blocks.push({ ...EMPTY, key: `${event.id}-${index}`, kind, step, stream, text, lines })
  }
}

/** Splits a text into pieces of at most 200 lines and cuts lines that are too long to be drawn. */
export function inChunks(text: string): string[] {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/)
  const chunks = Array.from({ length: Math.ceil(lines.length / LINES) }, (_, index) =>
    lines.slice(index * LINES, (index + 1) * LINES),
  )
  return chunks.map((chunk) => chunk.map((line) => excerpt(line, 4_000)).join('\n'))
}
