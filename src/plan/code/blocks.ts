import { readHcl, withoutLayout } from '../../hcl/read.ts'

/** A block at the top level of a file in the engine's language. Its code has no comments and no layout. */
export interface CodeBlock {
  /** For example `resource`, `module`, `moved`. */
  kind: string
  labels: string[]
  /** The code between the braces. */
  body: string
  /** The expressions of the attributes, not of those in nested blocks, by name. */
  attributes: Map<string, string>
}

/** Reads the blocks at the top level of a file. A block that is never closed reaches as far as it can. */
export function readCodeBlocks(code: string): CodeBlock[] {
  const text = code.replaceAll('\r\n', '\n')
  return readHcl(text).body.blocks.map(({ type, labels, body, bodyStart, bodyEnd }) => ({
    kind: type,
    labels,
    body: withoutLayout(text.slice(bodyStart, bodyEnd)),
    attributes: new Map(
      body.attributes.map(({ name, valueStart, end }) => [name, withoutLayout(text.slice(valueStart, end))]),
    ),
  }))
}
