const WAIT_MS = 10
const MAX_LINES = 200

/**
 * For the log of a process: lines of ten milliseconds go out together, because each write is a call to
 * the system that holds the process up. Nothing is kept at the end of the process.
 */
export function createLineWriter(): (line: string) => void {
  let lines: string[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    clearTimeout(timer)
    if (lines.length === 0) return
    const text = lines.join('\n')
    lines = []
    console.log(text)
  }
  process.on('exit', flush)
  return (line) => {
    const count = lines.push(line)
    if (count === 1) timer = setTimeout(flush, WAIT_MS)
    else if (count >= MAX_LINES) flush()
  }
}
