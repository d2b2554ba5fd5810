import type { Contract, Operation } from './document.ts'
import type { RawAnswer } from './http/raw.ts'

export interface Options {
  contract: Contract
  /** Base address of the service, without a slash at its end. */
  url: string
  /** Bearer token. Null when the service accepts every request. */
  token: string | null
  seed: number
  /** Folder for workspaces, which the service has to see under the same path. */
  workspace: string
  /** Id of a user with the role admin in an authorization service. */
  admin: string | null
  /** An identifier that a mapping service knows. */
  identifier: string | null
  /** Runs only the promises whose ids begin with one of these texts; all when it is empty. */
  only: readonly string[]
  /** Milliseconds that one exchange may take. */
  exchangeMs: number
  /** Milliseconds that one engine job may take. */
  jobMs: number
}

/** The parts of a request that differ. The rest follows from the operation. */
export interface Call {
  /** Values of parameters in the path. The others get a fitting value. */
  path?: Record<string, string>
  /** A body that is sent as JSON. */
  json?: unknown
  /** A body that is sent as it is, with `content_type` or without a content type. */
  raw?: string | Uint8Array<ArrayBuffer>
  content_type?: string | null
  headers?: Record<string, string>
  /** The whole Authorization header. Null sends none; the default is the right one. */
  authorization?: string | null
}

export interface Exchange {
  /** The request for people, without the token. */
  request: string
  /** The path of the request below the base address. */
  path: string
  status: number
  headers: Headers
  text: string
  /** The body as JSON; undefined when it is none. */
  json: unknown
}

export interface Finding {
  why: string
  /** The request; empty when none was sent. */
  request: string
  answer: string
}

/** The functions with which a promise is checked. */
export interface Tester {
  options: Options
  contract: Contract
  /** Of this promise. */
  seed: number
  /**
   * Sends one request to an operation. The answer is also compared with the document, which counts for the promise
   * `<operation>.answers`.
   * Errors: `NoAnswer`.
   */
  ask(operation: Operation, call?: Call): Promise<Exchange>
  /** Sends a request that no operation describes. Errors: `NoAnswer`. */
  send(method: string, path: string, call?: Call): Promise<Exchange>
  /** Sends bytes on a connection of their own. */
  raw(lines: string[], options?: { cut?: boolean }): Promise<RawAnswer>
  /** Records that the promise is broken. The check goes on. */
  broken(why: string, exchange?: Exchange): void
  /** Records that the promise is broken unless `kept` is true. Answers `kept`. */
  expect(kept: boolean, why: string, exchange?: Exchange): boolean
  /** Ends the check because the promise cannot be checked. Errors: always `Skipped`. */
  skip(reason: string): never
  /** All exchanges of this run with the operation so far. */
  exchangesWith(operation: Operation): readonly Exchange[]
}

export interface Promised {
  /** Name of the promise, `<subject>.<aspect>`. It does not change. */
  id: string
  promise: string
  run(tester: Tester): Promise<void>
}

export interface Result {
  id: string
  promise: string
  outcome: 'passed' | 'broken' | 'skipped'
  /** The reason for which the promise was skipped. */
  reason?: string
  exchanges: number
  findings: Finding[]
}

export class Skipped extends Error {
  override readonly name = 'Skipped'
}

/** There was no answer: the connection was refused or cut, or the answer came too late. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly request: string
  constructor(request: string, message: string) {
    super(message)
    this.request = request
  }
}

/** The suite cannot run with these options. The message is for the caller. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
