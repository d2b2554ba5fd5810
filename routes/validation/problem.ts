/** One entry of a 422 response. `ctx` holds the exceeded limit or the reason, if any. */
export interface Problem {
  type: string
  loc: (string | number)[]
  msg: string
  input: unknown
  ctx?: Record<string, unknown>
}

/** An invalid request with all its problems, returned as 422 `{"detail": [Problem]}`. */
export class InvalidRequest extends Error {
  readonly problems: Problem[]
  constructor(problems: Problem[]) {
    super('the request did not validate')
    this.name = 'InvalidRequest'
    this.problems = problems
  }
}

/** Maximum entries of a response, because a hostile body may have a problem in each of its thousands of keys. */
const MAX_LISTED = 100

/** The problems of a request. Beyond the first hundred they are only counted. */
export class ProblemList {
  readonly #listed: Problem[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  add(make: () => Problem): void {
    if (++this.#count <= MAX_LISTED) this.#listed.push(make())
  }

  /** Returns at most a hundred entries; if there are more, the last one says how many are omitted. */
  toList(): Problem[] {
    if (this.#count <= MAX_LISTED) return this.#listed
    const left = this.#count - MAX_LISTED + 1
    const msg = `${left} more problems are not listed`
    return [...this.#listed.slice(0, MAX_LISTED - 1), { type: 'too_many_problems', loc: ['body'], msg, input: null }]
  }
}
