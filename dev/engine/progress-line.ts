import type { Progress } from './transfer.ts'

const WIDTH = 30
const AGAIN_MS = 100
const MEBIBYTE = 1024 * 1024

/** A line that shows the progress of a download; outside of a terminal a plain line at its beginning. */
interface ProgressLine {
  update: Progress
  end(): void
}

/** @param output where the line is written, for example `process.stderr` */
export function createProgressLine(
  output: Pick<NodeJS.WriteStream, 'write'> & { isTTY?: boolean },
  text: string,
): ProgressLine {
  const live = output.isTTY === true
  if (!live) output.write(`${text}\n`)
  let drawn = Number.NEGATIVE_INFINITY
  let last = ''
  const draw = (line: string) => {
    last = line
    drawn = performance.now()
    output.write(`\r\u001b[2K${line}`)
  }
  if (live) draw(text)
  return {
    update: (done, total) => {
      if (live && (done === total || performance.now() - drawn > AGAIN_MS)) draw(`${text}  ${barOf(done, total)}`)
    },
    end: () => {
      if (live && last !== '') output.write('\n')
    },
  }
}

const inMebibytes = (bytes: number): string => (bytes / MEBIBYTE).toFixed(1)

/** Renders a bar, for example `[######----]  20.1 of 33.0 MiB`. */
function barOf(done: number, total: number | null): string {
  if (total === null) return `${inMebibytes(done)} MiB`
  const filled = Math.min(WIDTH, Math.floor((WIDTH * done) / total))
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}]  ${inMebibytes(done)} of ${inMebibytes(total)} MiB`
}
