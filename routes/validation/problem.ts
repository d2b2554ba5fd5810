/** One entry of a 422 answer. `ctx` holds the limit that was exceeded or the reason, where there is one. */
export interface Problem {
  type: string
  loc: (string | number)[]
  msg: string
  input: unknown
  ctx?: Record<string, unknown>
}

/** A request that did not validate, with all its problems. It is answered as 422 `{"detail": [Problem]}`. */
export class InvalidRequest extends Error {
  readonly problems: Problem[]
  constructor(problems: Problem[]) {
    super('the request did not validate')
    this.name = 'InvalidRequest'
    this.problems = problems
  }
}
