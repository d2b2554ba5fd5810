/** An attribute of a new object whose value is known after the apply, on a line of its own. */
const UNKNOWN = /^( *)\+ ("?[\w.-]+"?) += \(known after apply\)$/
/** The first line of a value of several lines: indentation, mark and name, opening. */
const OPENING = /^( *)([-+~] "?[\w.-]+"?) += ([[{])$/
/** The first line of a text of several lines; the group is as long as the indentation of its last line. */
const HEREDOC = /^( *(?:[-+~] )?)(?:\S.* )?<<-EOT$/
/** An attribute, padded so that its equals sign is below those of the others. */
const PADDED = /^( *[-+~ ] "?[\w.-]+"?) {2,}= /

/** The line that begins a resource; the groups are its address, and the end of it that its block repeats. */
const BEGINNING = /^ {2}# ((?:.*\.)?([\w-]+)\.([\w-]+)(?:\[.*\])?) (?:will|must|has|is) /
/** The line that opens the block of a resource. */
const BLOCK = /^( *[-+~/<=]+ resource) "([\w-]+)" "([\w-]+)" \{$/
/** A value of another resource is only worth its address when it is longer than this. */
const MIN_SHARED = 100

/**
 * Shortens the engine's text of a plan for a model: the names of attributes that are known after the apply share a line
 * at the end of their block, a value that an attribute before it has as well, such as common tags, is replaced by that
 * name, a block does not repeat the address above it, and padding goes. Everything else stays as it is.
 */
export function condensePlanText(text: string): string {
  const lines = text.split('\n')
  const kept: string[] = []
  /** Names by the indentation of their block. */
  const unknown = new Map<number, string[]>()
  /** Attributes by their values: the first with it, and that of the present resource. */
  const values = new Map<string, { name: string; address: string }>()
  let address = ''
  let named: string[] = []
  const endBlocks = (depth: number) => {
    for (const [indent, names] of [...unknown].toSorted(([a], [b]) => b - a)) {
      if (indent <= depth) continue
      kept.push(`${' '.repeat(indent)}+ (known after apply): ${names.join(', ')}`)
      unknown.delete(indent)
    }
  }
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const [, indent = '', name] = UNKNOWN.exec(line) ?? []
    if (name !== undefined) {
      unknown.set(indent.length, [...(unknown.get(indent.length) ?? []), name])
      continue
    }
    const depth = line.search(/\S/)
    if (depth !== -1) endBlocks(depth)
    if (depth === 0) address = ''
    const begun = BEGINNING.exec(line)
    if (begun) {
      address = begun[1] ?? ''
      named = begun.slice(2)
    }
    const value = valueFrom(lines, at)
    const same = value && values.get(value.text)
    if (value && same && (same.address === address || (same.address !== '' && value.text.length > MIN_SHARED))) {
      kept.push(`${value.beginning} = (as ${same.name}${same.address === address ? '' : ` of ${same.address}`})`)
      at = value.end
      continue
    }
    if (value && (!same || same.address !== address)) values.set(value.text, { name: value.name, address })
    const [, mark, ...labels] = BLOCK.exec(line) ?? []
    const repeats = mark !== undefined && labels.every((label, index) => label === named[index])
    kept.push(repeats ? `${mark} {` : line.replace(PADDED, '$1 = '))
    const end = endOfText(lines, at)
    kept.push(...lines.slice(at + 1, end + 1))
    at = end
  }
  endBlocks(-1)
  return kept.join('\n')
}

/** Returns the last line of the text that begins in a line, which is not shortened; the line itself for any other. */
function endOfText(lines: readonly string[], at: number): number {
  const opening = HEREDOC.exec(lines[at] ?? '')?.[1]
  if (opening === undefined) return at
  const closing = `${' '.repeat(opening.length)}EOT`
  const end = lines.findIndex((line, index) => index > at && line.startsWith(closing))
  return end === -1 ? at : end
}

/** Reads a value of several lines; null where none begins. */
function valueFrom(lines: readonly string[], at: number) {
  const [, indent = '', name = '', opening] = OPENING.exec(lines[at] ?? '') ?? []
  if (opening === undefined) return null
  // The engine writes the closing bracket two columns further than the mark.
  const closing = `${indent}  ${opening === '{' ? '}' : ']'}`
  let end = at + 1
  while (end < lines.length && !lines[end]?.startsWith(closing)) end++
  if (end === lines.length) return null
  const mark = name.slice(0, 1)
  const text = [indent.length, mark, ...lines.slice(at + 1, end + 1)]
    .join('\n')
    .replaceAll(/\((\d+) unchanged \w+ hidden\)/g, '')
  return { beginning: `${indent}${name}`, name: name.slice(2), text, end }
}
