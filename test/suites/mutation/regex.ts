/** Opposite of each class that a letter after a backslash names. */
const CLASSES: Record<string, string> = { d: 'D', D: 'd', s: 'S', S: 's', w: 'W', W: 'w' }

/**
 * A regular expression with one thing changed, once for each: an anchor or a quantifier left out, a class or the
 * look at what stands around turned into its opposite.
 *
 * @param literal with its slashes and flags, as in the code
 */
export function mutateRegex(literal: string): string[] {
  const end = literal.lastIndexOf('/')
  const [body, flags] = [literal.slice(1, end), literal.slice(end + 1)]
  const changed: string[] = []
  const change = (from: number, to: number, replacement: string): void => {
    const text = body.slice(0, from) + replacement + body.slice(to)
    if (isPattern(text, flags)) changed.push(`/${text}/${flags}`)
  }
  let inClass = false
  for (let index = 0; index < body.length; index++) {
    const character = body[index] ?? ''
    if (character === '\\') {
      const opposite = CLASSES[body[index + 1] ?? '']
      if (opposite !== undefined) change(index + 1, index + 2, opposite)
      index++
    } else if (inClass) inClass = character !== ']'
    else if (character === '[') {
      inClass = true
      if (body[index + 1] === '^') change(index + 1, index + 2, '')
      else change(index + 1, index + 1, '^')
    } else if (character === '^' || character === '$') change(index, index + 1, '')
    else if (character === '+' || character === '*') change(index, index + 1, '')
    else if (character === '?' && body[index - 1] !== '(') change(index, index + 1, '')
    else if (character === '{') change(index, body.indexOf('}', index) + 1, '')
    else if (character === '(') changeLook(body, index, change)
  }
  return changed
}

/** `(?=`, `(?!`, `(?<=` and `(?<!`. */
function changeLook(
  body: string,
  index: number,
  change: (from: number, to: number, replacement: string) => void,
): void {
  const [look, sign] = /^\(\?<?([=!])/.exec(body.slice(index)) ?? []
  if (look === undefined) return
  const at = index + look.length - 1
  change(at, at + 1, sign === '=' ? '!' : '=')
}

/** Nothing in front of the slashes would make a comment of it. */
function isPattern(body: string, flags: string): boolean {
  if (body === '' || body.startsWith('*')) return false
  try {
    new RegExp(body, flags)
    return true
  } catch {
    return false
  }
}
