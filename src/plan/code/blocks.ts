import { readHcl, withoutLayout } from '../../hcl/read.ts'

/** A top-level block of a file; its code has no comments and no layout. */
export interface CodeBlock {
  /** For example `resource`, `module`, `moved`. */
  kind: string
  labels: string[]
  body: string
  /** Expressions of the block's own attributes by name, without those of nested blocks. */
  attributes: Map<string, string>
}

/** Reads the top-level blocks of a file. A block that is never closed extends as far as it can. */
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
