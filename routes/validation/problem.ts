import { isJsonObject } from '../../src/base/json.ts'

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

/** The key whose value may hold a secret. It is shown as null where a request is echoed, unless it can hold none. */
export const SECRET_KEY = 'repo_uri'
/** A password or token in an address, under any key. It is matched in linear time. */
const SECRET_ADDRESS = /:\/\/[^\s/"@:]*:[^\s/"@]*@/
const MAX_LENGTH = 4_096

/** Returns the part of a request that a 422 response shows, with null for secrets and very long or unusual values. */
export function echo(value: unknown): unknown {
  if (remaining(value, MAX_LENGTH) < 0) return null
  const hides = isJsonObject(value) && Object.hasOwn(value, SECRET_KEY) && !isPlainAddress(value[SECRET_KEY])
  const visible = hides ? { ...value, [SECRET_KEY]: null } : (value ?? null)
  const text = JSON.stringify(visible) ?? ''
  return text.length > MAX_LENGTH || SECRET_ADDRESS.test(text) ? null : visible
}

/** True for an address with nothing but scheme, host and path. */
function isPlainAddress(value: unknown): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url !== null && url.host !== '' && !/[@?#]/.test(String(value))
}

/**
 * Returns the rest of a budget of characters after writing a value as JSON, or early a negative number. So a large
 * value is not written out only to find that it is too long. Each level of nesting costs at least one character, which
 * also limits the depth.
 */
function remaining(value: unknown, budget: number): number {
  if (typeof value === 'string') return budget - value.length
  if (typeof value !== 'object' || value === null) return budget - 1
  let left = budget - 1
  for (const [key, member] of Object.entries(value)) {
    if (left < 0) break
    left = remaining(member, left - (Array.isArray(value) ? 0 : key.length))
  }
  return left
}
