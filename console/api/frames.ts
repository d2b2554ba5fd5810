/** One frame of an event stream. `event` is empty for a frame without a type. */
export interface Frame {
  id: string
  event: string
  data: string
}

/** Answers a function that takes text as it arrives and answers the frames that are complete. Comments are left out. */
export function createFrameReader(): (text: string) => Frame[] {
  let rest = ''
  return (text) => {
    rest += text.replaceAll('\r\n', '\n')
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    return blocks.map(readBlock).filter((frame) => frame !== null)
  }
}

function readBlock(block: string): Frame | null {
  const frame: Frame = { id: '', event: '', data: '' }
  const data: string[] = []
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon < 1) continue
    const value = line.slice(colon + 1).replace(/^ /, '')
    const name = line.slice(0, colon)
    if (name === 'data') data.push(value)
    else if (name === 'id' || name === 'event') frame[name] = value
  }
  if (data.length === 0) return null
  frame.data = data.join('\n')
  return frame
}
