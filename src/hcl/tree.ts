import type { HclFault } from './scanner.ts'

/** The contents of a file or block, in source order. */
export interface HclBody {
  attributes: HclAttribute[]
  blocks: HclBlock[]
}

/** A position in the text: offsets, and the first line, from 1. */
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
  /** Type, for example `resource`, `module`, `moved`. */
  type: string
  /** Labels; one that only the engine can compute is empty. */
  labels: string[]
  body: HclBody
  /** Offsets between the braces; an unclosed block extends as far as its text can. */
  bodyStart: number
  bodyEnd: number
}

/** A value, as far as it is literal. */
export type HclValue =
  | { kind: 'object'; entries: HclEntry[] }
  | { kind: 'array'; items: HclValue[] }
  /** A string; `value` ends before the first template that only the engine can compute. */
  | { kind: 'string'; value: string; whole: boolean }
  /** A number, `true`, `false`, `null` or a name. */
  | { kind: 'word'; word: string }
  /** A value that only the engine can compute. */
  | { kind: 'computed' }

/** An entry of an object; duplicate keys are all kept, so that none can hide another. */
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
  /** Calls at any depth of the file. */
  calls: HclCall[]
  /** False for text with unclosed braces or strings, more than 200 levels, or too many tokens. */
  complete: boolean
  /** First hundred syntax errors; the engine finds more. */
  faults: HclFault[]
  /** Number of tokens read; more than `maxTokens` when the text was cut. */
  tokens: number
}
