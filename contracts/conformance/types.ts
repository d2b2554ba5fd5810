import type { Contract, Operation } from './document.ts'

export interface Options {
  contract: Contract
  /** Base address of the service, without a trailing slash. */
  url: string
  /** Bearer token; null when the service accepts every request. */
  token: string | null
  seed: number
  /** Folder for workspaces, which the service must see under the same path. */
  workspace: string
  /** Id of a user with the role admin in an authorization service. */
  admin: string | null
  /** An identifier that a mapping service knows. */
  identifier: string | null
  /** Beginnings of the ids of the promises to run; empty runs all. */
  only: readonly string[]
  /** Limit of one exchange, in milliseconds. */
  exchangeMs: number
  /** Limit of one engine job, in milliseconds. */
  jobMs: number
}

/** The parts of a request that differ; the rest follows from the operation. */
export interface Call {
  /** Values of parameters in the path; the others get a fitting value. */
  path?: Record<string, string>
  json?: unknown
  /** A body that is sent unchanged, with `content_type` or without a content type. */
  raw?: string | Uint8Array<ArrayBuffer>
  content_type?: string | null
  headers?: Record<string, string>
  /** The whole Authorization header; null sends none, the default is the right one. */
  authorization?: string | null
}

export interface Exchange {
  /** The request in readable form, without the token. */
  request: string
  /** The path below the base address. */
  path: string
  status: number
  headers: Headers
  text: string
  json: unknown
}

export interface Finding {
  why: string
  /** The request; empty when none was sent. */
  request: string
  answer: string
}

export interface Tester {
  options: Options
  contract: Contract
  seed: number
  /** Sends a request and compares the answer with the document (`<operation>.answers`). Errors: `NoAnswer`. */
  ask(operation: Operation, call?: Call): Promise<Exchange>
  /** Sends a request that no operation describes. Errors: `NoAnswer`. */
  send(method: string, path: string, call?: Call): Promise<Exchange>
  /** Sends bytes on their own connection. The status is null when it was closed without an answer, or `cut`. */
  raw(lines: string[], options?: { cut?: boolean }): Promise<{ status: number | null }>
  /** Records that the promise is broken. The check goes on. */
  broken(why: string, exchange?: Exchange): void
  /** Records that the promise is broken unless `kept` is true. Returns `kept`. */
  expect(kept: boolean, why: string, exchange?: Exchange): boolean
  /** Records that the promise is broken unless the answer has one of these statuses. `what` names the request. */
  expectStatus(exchange: Exchange, expected: number | readonly number[], what?: string): boolean
  /** Records that the promise is broken unless the body is an object that `fits`. */
  expectBody(exchange: Exchange, fits: (json: Record<string, unknown>) => boolean, why: string): boolean
  /** Ends the check because the promise cannot be checked. Errors: always `Skipped`. */
  skip(reason: string): never
  /** Returns the exchanges of this run with the operation so far. */
  exchangesWith(operation: Operation): readonly Exchange[]
}

export interface Check {
  /** The stable name of the promise, `<subject>.<aspect>`. */
  id: string
  promise: string
  run(tester: Tester): Promise<void>
}

export const check = (id: string, promise: string, run: Check['run']): Check => ({ id, promise, run })

export interface Result {
  id: string
  promise: string
  outcome: 'passed' | 'broken' | 'skipped'
  reason?: string
  exchanges: number
  findings: Finding[]
}

export class Skipped extends Error {
  override readonly name = 'Skipped'
}

/** Thrown when the connection was refused or cut, or the answer came too late. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly request: string
  constructor(request: string, message: string) {
    super(message)
    this.request = request
  }
}

/** Thrown when the suite cannot run with these options. The message is for the caller. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
