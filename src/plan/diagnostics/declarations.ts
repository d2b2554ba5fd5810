/** What the code of one folder, which is one module, declares. Names are those of references: `aws_vpc.main`. */
export interface Declarations {
  variables: string[]
  locals: string[]
  outputs: string[]
  /** Addresses of resources and, with `data.` or `ephemeral.` in front, of what is only read. */
  resources: string[]
  /** Sources of the modules that are called, by name; null where the source is no literal. */
  modules: Map<string, string | null>
}

const HEADS = /^[ \t]*(variable|output|module|resource|data|ephemeral)[ \t]+"([\w-]+)"(?:[ \t]+"([\w-]+)")?[ \t]*\{/gm
const SOURCE = /^[ \t]*source[ \t]*=[ \t]*"([^"$]*)"/m

/**
 * Reads what the texts of a folder declare, well enough for a hint: the code may be the very code that the engine could
 * not read.
 */
export function readDeclarations(texts: readonly string[]): Declarations {
  const found: Declarations = { variables: [], locals: [], outputs: [], resources: [], modules: new Map() }
  for (const text of texts) {
    for (const { 1: kind, 2: first = '', 3: second, index, 0: head } of text.matchAll(HEADS)) {
      if (kind === 'variable') found.variables.push(first)
      else if (kind === 'output') found.outputs.push(first)
      else if (kind === 'module') found.modules.set(first, SOURCE.exec(bodyAt(text, index + head.length))?.[1] ?? null)
      else if (second !== undefined) found.resources.push(`${kind === 'resource' ? '' : `${kind}.`}${first}.${second}`)
    }
    found.locals.push(...localsOf(text))
  }
  return found
}

/** A line without the content of its strings and without its comment, so that braces in them do not count. */
const codeOf = (line: string) => line.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replace(/(#|\/\/).*$/, '')

/** The text from a place inside a block to the end of the block. */
function bodyAt(text: string, from: number): string {
  const lines: string[] = []
  let depth = 1
  for (const line of text.slice(from).split('\n')) {
    lines.push(line)
    for (const letter of codeOf(line)) {
      if (letter === '{') depth++
      if (letter === '}') depth--
    }
    if (depth <= 0) break
  }
  return lines.join('\n')
}

function localsOf(text: string): string[] {
  return [...text.matchAll(/^[ \t]*locals[ \t]*\{/gm)].flatMap(({ index, 0: head }) => {
    const names: string[] = []
    let depth = 0
    for (const line of bodyAt(text, index + head.length).split('\n')) {
      const name = depth === 0 ? /^\s*([A-Za-z_][\w-]*)\s*=/.exec(line)?.[1] : undefined
      if (name !== undefined) names.push(name)
      for (const letter of codeOf(line)) {
        if ('{[('.includes(letter)) depth++
        if ('}])'.includes(letter)) depth--
      }
    }
    return names
  })
}

/**
 * The nested blocks in which a name stands, from the outermost block, which is left out, inwards; `dynamic` blocks
 * count as what they make. Null when the name stands in an expression, or outside of every block.
 * @param line where the name is; the first line is 1
 */
export function blockPathAt(text: string, line: number, name: string): string[] | null {
  const lines = text.split('\n')
  const last = lines[line - 1] ?? ''
  const before = [...lines.slice(0, line - 1), last.slice(0, Math.max(0, last.search(new RegExp(`\\b${name}\\b`))))]
  const open: (string | null)[] = []
  for (const raw of before) {
    const dynamic = /\bdynamic\s+"([\w-]+)"/.exec(raw)?.[1]
    let head = ''
    for (const letter of codeOf(raw)) {
      if (letter === '{') open.push(nameOfBlock(head, dynamic))
      if (letter === '}') open.pop()
      head = letter === '{' || letter === '}' ? '' : head + letter
    }
  }
  if (open.length === 0 || open.includes(null)) return null
  return open.slice(1).flatMap((each, index) => (each === 'content' && index > 0 ? [] : [each as string]))
}

function nameOfBlock(head: string, dynamic: string | undefined): string | null {
  const name = /^\s*([A-Za-z_][\w-]*)(\s+(""|[\w-]+))*\s*$/.exec(head)?.[1] ?? null
  return name === 'dynamic' && dynamic !== undefined ? dynamic : name
}
