import type { HclFault } from './scanner.ts'

/** What is written in a file, or in the braces of a block, in the order of the text. */
export interface HclBody {
  attributes: HclAttribute[]
  blocks: HclBlock[]
}

/** A place in the text: offsets, and the line of the first one, from 1. */
interface Span {
  line: number
  start: number
  end: number
}

export interface HclAttribute extends Span {
  name: string
  value: HclValue
  /** Offset of the value, which ends with the attribute. */
  valueStart: number
}

export interface HclBlock extends Span {
  /** For example `resource`, `module`, `moved`. */
  type: string
  /** A label that only the engine can compute is empty. */
  labels: string[]
  body: HclBody
  /** Offsets of the text between the braces; a block that is not closed reaches as far as the text can be its own. */
  bodyStart: number
  bodyEnd: number
}

/** A value as far as it is written out. */
export type HclValue =
  | { kind: 'object'; entries: HclEntry[] }
  | { kind: 'array'; items: HclValue[] }
  /** Of a string with templates, `value` is what stands before the first one that only the engine can compute. */
  | { kind: 'string'; value: string; whole: boolean }
  /** A number, `true`, `false`, `null` or the name of a value. */
  | { kind: 'word'; word: string }
  /** Only the engine can compute it. */
  | { kind: 'computed' }

/** An entry of an object. Of duplicate keys all stay, so that none can hide another. */
export interface HclEntry {
  /** Null when only the engine can compute it. */
  key: string | null
  line: number
  value: HclValue
}

/** A call of a function, with its first two arguments. */
export interface HclCall {
  name: string
  line: number
  args: HclValue[]
}

export interface HclFile {
  body: HclBody
  /** All calls in the file, in whatever depth. */
  calls: HclCall[]
  /** False when the text does not end where its braces and strings say, nests deeper than 200 levels or is too long. */
  complete: boolean
  /** Violations of the syntax that were noticed, the first hundred. The engine knows more of them. */
  faults: HclFault[]
  /** Tokens that were read. More than `maxTokens` when the text was not read to its end. */
  tokens: number
}
