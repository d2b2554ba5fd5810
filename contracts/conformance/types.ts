import type { Contract, Operation } from './document.ts'
import type { RawAnswer } from './http/raw.ts'
import type { Random } from './schema/random.ts'

export interface Options {
  contract: Contract
  /** Base address of the service, without a slash at its end. */
  url: string
  /** Bearer token; null: the service accepts every request. */
  token: string | null
  seed: number
  /** Folder for workspaces that the service sees under the same path. */
  workspace: string
  /** Id of a user with the role admin in an authorization service. */
  admin: string | null
  /** What a mapping service knows. */
  identifier: string | null
  /** Runs the promises whose ids begin with one of them; empty: all. */
  only: readonly string[]
  /** Milliseconds for one exchange. */
  exchangeMs: number
  /** Milliseconds for one engine job. */
  jobMs: number
}

/** What is sent; the rest follows from the operation. */
export interface Call {
  /** Values of the path's parameters; others get a fitting one. */
  path?: Record<string, string>
  /** Serialised as JSON. */
  json?: unknown
  /** Sent as it is, with `content_type` or without any. */
  raw?: string | Uint8Array<ArrayBuffer>
  content_type?: string | null
  headers?: Record<string, string>
  /** The whole Authorization header; null: none. Default: the right one. */
  authorization?: string | null
}

export interface Exchange {
  /** For people; holds no token. */
  request: string
  /** As asked, below the base address. */
  path: string
  status: number
  headers: Headers
  text: string
  /** Undefined when the body is no JSON. */
  json: unknown
}

export interface Finding {
  why: string
  /** Empty where no exchange was made. */
  request: string
  answer: string
}

/** What a promise is checked with. */
export interface Tester {
  options: Options
  contract: Contract
  random: Random
  /**
   * One request to an operation. The answer is also held against the document, which counts for the
   * promise `<operation>.answers`. Errors: `NoAnswer`.
   */
  ask(operation: Operation, call?: Call): Promise<Exchange>
  /** A request that no operation describes. Errors: `NoAnswer`. */
  send(method: string, path: string, call?: Call): Promise<Exchange>
  /** Bytes on a connection of their own. */
  raw(lines: string[], options?: { cut?: boolean }): Promise<RawAnswer>
  /** The promise is broken; the check goes on. */
  broken(why: string, exchange?: Exchange): void
  /** `broken` unless `kept`; answers `kept`. */
  expect(kept: boolean, why: string, exchange?: Exchange): boolean
  /** The promise cannot be checked. Errors: always `Skipped`. */
  skip(reason: string): never
  /** Every finding so far of another promise of this run is left alone; statuses seen of an operation. */
  seen(operation: Operation): readonly Exchange[]
}

export interface Promised {
  /** Stable, `<subject>.<aspect>`. */
  id: string
  promise: string
  run(tester: Tester): Promise<void>
}

export interface Result {
  id: string
  promise: string
  outcome: 'passed' | 'broken' | 'skipped'
  /** Of a skipped one. */
  reason?: string
  exchanges: number
  findings: Finding[]
}

export class Skipped extends Error {
  override readonly name = 'Skipped'
}

/** No answer came: refused, cut or too late. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly request: string
  constructor(request: string, message: string) {
    super(message)
    this.request = request
  }
}

/** The suite cannot be run this way; the message is for the caller. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
