/** The signs of code that did not pass through a formatter; a small part of what the engine's own does. */

const ASSIGNMENT = /^( *)((?:"[^"]*"|[\w.-]+) *)=(?![=>])/

/** Complaints with their line, counted from 1. */
export function unformatted(code: string): { line: number; message: string }[] {
  const lines = code.split('\n')
  const found: { line: number; message: string }[] = []
  let depth = 0
  lines.forEach((text, index) => {
    const line = index + 1
    if (/\t/.test(text)) found.push({ line, message: 'has a tab' })
    if (/\s$/.test(text)) found.push({ line, message: 'ends with a blank' })
    const { opens, closes, leading } = bracketsOf(text)
    const indent = (depth - (leading ? 1 : 0)) * 2
    if (text.trim() !== '' && text.search(/\S/) !== indent)
      found.push({ line, message: `is not indented by ${indent}` })
    depth = Math.max(0, depth + Math.sign(opens - closes))
  })
  return [...found, ...misaligned(lines)].toSorted((a, b) => a.line - b.line)
}

/** Brackets outside of texts and comments. */
function bracketsOf(text: string) {
  const bare = text.replace(/"(?:\\.|[^"\\])*"/g, '""').replace(/(#|\/\/).*$/, '')
  const count = (pattern: RegExp) => bare.match(pattern)?.length ?? 0
  return { opens: count(/[{[(]/g), closes: count(/[}\])]/g), leading: /^\s*[}\])]/.test(bare) }
}

/** Neighbouring one-line arguments have their equals signs in one column, one blank after the longest name. */
function misaligned(lines: readonly string[]): { line: number; message: string }[] {
  const found: { line: number; message: string }[] = []
  let group: { line: number; indent: string; name: string }[] = []
  const close = () => {
    const width = Math.max(...group.map(({ name }) => name.trimEnd().length)) + 1
    for (const { line, name } of group)
      if (name.length !== width) found.push({ line, message: 'has its equals sign in another column' })
    group = []
  }
  lines.forEach((text, index) => {
    const [, indent = '', name = ''] = ASSIGNMENT.exec(text) ?? []
    const { opens, closes } = bracketsOf(text)
    const single = name !== '' && opens === closes
    if (group.length > 0 && (!single || indent !== group[0]?.indent)) close()
    if (single) group.push({ line: index + 1, indent, name })
    else if (name !== '' && !/\S $/.test(name))
      found.push({ line: index + 1, message: 'has its equals sign in another column' })
  })
  if (group.length > 0) close()
  return found
}
