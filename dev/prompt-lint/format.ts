/** Checks for unformatted code, a small part of the engine's own formatter. */

const ASSIGNMENT = /^( *)((?:"[^"]*"|[\w.-]+) *)=(?![=>])/

/** Finds lines that the formatter would change. The first line is 1. */
export function findUnformatted(code: string): { line: number; message: string }[] {
  const lines = code.split('\n')
  const faults: { line: number; message: string }[] = []
  let depth = 0
  lines.forEach((text, index) => {
    const line = index + 1
    if (/\t/.test(text)) faults.push({ line, message: 'has a tab' })
    if (/\s$/.test(text)) faults.push({ line, message: 'ends with a blank' })
    const { opens, closes, leading } = countBrackets(text)
    const indent = (depth - (leading ? 1 : 0)) * 2
    if (text.trim() !== '' && text.search(/\S/) !== indent)
      faults.push({ line, message: `is not indented by ${indent}` })
    depth = Math.max(0, depth + Math.sign(opens - closes))
  })
  return [...faults, ...findMisaligned(lines)].toSorted((a, b) => a.line - b.line)
}

/** Counts brackets, except those in texts and comments. */
function countBrackets(text: string) {
  const bare = text.replace(/"(?:\\.|[^"\\])*"/g, '""').replace(/(#|\/\/).*$/, '')
  const count = (pattern: RegExp) => bare.match(pattern)?.length ?? 0
  return { opens: count(/[{[(]/g), closes: count(/[}\])]/g), leading: /^\s*[}\])]/.test(bare) }
}

/** Finds misaligned equals signs: those of consecutive one-line arguments are in one column. */
function findMisaligned(lines: readonly string[]): { line: number; message: string }[] {
  const faults: { line: number; message: string }[] = []
  let group: { line: number; indent: string; name: string }[] = []
  const close = () => {
    const width = Math.max(...group.map(({ name }) => name.trimEnd().length)) + 1
    for (const { line, name } of group)
      if (name.length !== width) faults.push({ line, message: 'has its equals sign in another column' })
    group = []
  }
  lines.forEach((text, index) => {
    const [, indent = '', name = ''] = ASSIGNMENT.exec(text) ?? []
    const { opens, closes } = countBrackets(text)
    const single = name !== '' && opens === closes
    if (group.length > 0 && (!single || indent !== group[0]?.indent)) close()
    if (single) group.push({ line: index + 1, indent, name })
    else if (name !== '' && !/\S $/.test(name))
      faults.push({ line: index + 1, message: 'has its equals sign in another column' })
  })
  if (group.length > 0) close()
  return faults
}
