/**
 * For the log of a process: the lines of one turn of the event loop go out together, because each write
 * is a call to the system that holds the process up. Nothing is kept at the end of the process.
 */
export function createLineWriter(): (line: string) => void {
  let lines: string[] = []
  const flush = () => {
    if (lines.length === 0) return
    const text = lines.join('\n')
    lines = []
    console.log(text)
  }
  process.on('exit', flush)
  return (line) => {
    if (lines.push(line) === 1) setImmediate(flush)
  }
}
