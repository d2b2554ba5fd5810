import { styleText } from 'node:util'

export type Display = ReturnType<typeof createDisplay>

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** Matches control characters in others' names and texts that a terminal would obey, except the demo's own colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const CONTROLS = /\u001b(?!\[\d+m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g
const withoutControls = (text: string): string => text.replaceAll(CONTROLS, '')

/** Makes the demo's output: an updated line in a terminal, plain lines elsewhere. */
export function createDisplay(output: NodeJS.WriteStream) {
  const live = output.isTTY === true
  const began = performance.now()
  let current = ''
  let frame = 0
  let held = false
  const keptBack: string[] = []
  const paint = (colour: 'gray' | 'green' | 'red' | 'yellow' | 'bold', text: string) =>
    styleText(colour, text, { stream: output })
  const clear = () => {
    if (live && current && !held) output.write('\r\u001b[2K')
  }
  const elapsed = () => `${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s`
  const draw = () => {
    if (!live || !current || held) return
    const text = `${FRAMES[frame++ % FRAMES.length]} ${elapsed()}  ${withoutControls(current)}`
    output.write(`\r\u001b[2K${text.slice(0, (output.columns ?? 80) - 1)}`)
  }
  const timer = live ? setInterval(draw, 100) : null
  timer?.unref()
  const line = (text = '') => {
    if (held) {
      keptBack.push(text)
      return
    }
    clear()
    output.write(`${withoutControls(text)}\n`)
    draw()
  }
  return {
    line,
    /** Writes a line with the time, a heading and a text. */
    event: (heading: string, text: string) =>
      line(`${paint('gray', elapsed())}  ${paint('bold', heading.padEnd(12))} ${text}`.trimEnd()),
    /** Shows the current work, in a terminal only. */
    busy: (text: string) => {
      clear()
      current = text
      draw()
    },
    /** Holds back all output until the returned function is called, so that a person can type. */
    hold: () => {
      clear()
      held = true
      return () => {
        held = false
        for (const text of keptBack.splice(0)) line(text)
        draw()
      }
    },
    /** Colours a text, in a terminal only. */
    paint,
    end: () => {
      clear()
      current = ''
      if (timer) clearInterval(timer)
    },
  }
}
