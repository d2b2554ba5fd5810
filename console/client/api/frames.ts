/** One frame of an event stream. `event` is empty for a frame without a type. */
export interface Frame {
  id: string
  event: string
  data: string
}

const LINE_END = /\r\n|\r|\n/

/**
 * Answers a function that takes text as it arrives, cut anywhere, and answers the frames that are complete. Comments
 * are left out. Lines end as the standard allows: LF, CR LF or CR.
 */
export function createFrameReader(): (text: string) => Frame[] {
  let line: string[] = []
  let block: string[] = []
  let endedByCr = false
  return (text) => {
    if (text === '') return []
    const [first = '', ...more] = (endedByCr && text.startsWith('\n') ? text.slice(1) : text).split(LINE_END)
    endedByCr = text.endsWith('\r')
    line.push(first)
    const frames: Frame[] = []
    for (const next of more) {
      const whole = line.join('')
      line = [next]
      if (whole !== '') {
        block.push(whole)
        continue
      }
      const frame = readBlock(block)
      block = []
      if (frame) frames.push(frame)
    }
    return frames
  }
}

function readBlock(block: readonly string[]): Frame | null {
  const frame: Frame = { id: '', event: '', data: '' }
  const data: string[] = []
  for (const line of block) {
    const [, name, value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? []
    if (name === 'data') data.push(value)
    else if (name === 'id' || name === 'event') frame[name] = value
  }
  if (data.length === 0) return null
  frame.data = data.join('\n')
  return frame
}
