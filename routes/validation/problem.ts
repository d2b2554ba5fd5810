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

/** Entries of an answer. Nobody reads more, and a hostile body has a problem in each of its thousands of keys. */
const MAX_LISTED = 100

/** The problems of a request. Beyond the first hundred they are counted and not made. */
export class ProblemList {
  readonly #listed: Problem[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  add(make: () => Problem): void {
    if (++this.#count <= MAX_LISTED) this.#listed.push(make())
  }

  /** All problems, at most a hundred entries; where there are more, the last entry says how many are left out. */
  toList(): Problem[] {
    if (this.#count <= MAX_LISTED) return this.#listed
    const left = this.#count - MAX_LISTED + 1
    const msg = `${left} more problems are not listed`
    return [...this.#listed.slice(0, MAX_LISTED - 1), { type: 'too_many_problems', loc: ['body'], msg, input: null }]
  }
}
