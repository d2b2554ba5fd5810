import { type FileScan, isLocalSource, isProgramBlock, isProgramProvisioner } from './findings.ts'
import { type HclToken, tokenizeHcl } from './hcl-tokens.ts'

interface OpenBrace {
  /** The type of the block; null for the brace of an object. */
  type: string | null
  inProvider: boolean
}

/** Scans the native form of the language: looks at the header before every brace and at the blocks around it. */
export function scanHcl(source: string): FileScan {
  const { tokens, complete } = tokenizeHcl(source)
  const scan: FileScan = { findings: [], modules: [], complete }
  const open: OpenBrace[] = []
  let header: HclToken[] = []
  const endStatement = () => {
    const source = open.at(-1)?.type === 'module' ? localSource(header) : null
    if (source !== null) scan.modules.push(source)
    header = []
  }
  for (const token of tokens) {
    if (token.kind === 'symbol' && token.text === '{') {
      const type = blockType(header)
      const inProvider = open.at(-1)?.inProvider ?? false
      const construct = forbiddenConstruct(header, inProvider)
      if (construct) scan.findings.push({ line: header[0]?.line ?? token.line, construct })
      open.push({ type, inProvider: inProvider || type === 'provider' })
      header = []
    } else if (token.kind === 'symbol' && token.text === '}') {
      endStatement()
      open.pop()
    } else if (token.kind === 'newline') endStatement()
    else header.push(token)
  }
  return scan
}

const blockType = (header: HclToken[]): string | null =>
  header[0]?.kind === 'identifier' && header.every(({ kind }) => kind === 'identifier' || kind === 'string')
    ? header[0].text
    : null

function localSource(statement: HclToken[]): string | null {
  const [name, equals, value] = statement
  const isSource = name?.text === 'source' && equals?.text === '=' && value?.kind === 'string' && value.text !== null
  return isSource && isLocalSource(value.text as string) ? value.text : null
}

/**
 * The construct in a header that would run a program; null when there is none. It is looked for anywhere in the header,
 * so that a malformed one that the engine would not accept is refused here too.
 */
function forbiddenConstruct(header: HclToken[], inProvider: boolean): string | null {
  for (const [index, { kind, text }] of header.entries()) {
    if (kind !== 'identifier' || text === null) continue
    const label = header[index + 1]
    if (label?.kind !== 'identifier' && label?.kind !== 'string') continue
    if (text === 'provisioner' && isProgramProvisioner(label.text)) return `provisioner "${label.text ?? ''}"`
    if (isProgramBlock(text, label.text)) return `${text} "${label.text}"`
  }
  return inProvider && header.some(({ kind, text }) => kind !== 'symbol' && text === 'exec')
    ? 'exec of a provider'
    : null
}
