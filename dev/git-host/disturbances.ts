/** Something that happens once between a client and the host, to the next request that it fits. */
export interface Disturbance {
  method: string
  /** Tested against path and query of the request. */
  path: RegExp
  /** True if the host carries the request out before its answer is replaced. */
  done?: boolean
  /** How many bytes of git's own answer arrive before the connection is cut. */
  bytes?: number
  /** The answer in its place; without it the connection is cut. */
  answer?: { status: number; headers?: Record<string, string>; body?: string }
}

/** Keeps what is to happen, in order. */
export function createDisturbances() {
  const waiting: Disturbance[] = []
  return {
    add: (...disturbances: Disturbance[]) => void waiting.push(...disturbances),
    /** Takes out the first that fits a request. */
    take: (method: string, path: string): Disturbance | undefined => {
      const at = waiting.findIndex((one) => one.method === method && one.path.test(path))
      return at < 0 ? undefined : waiting.splice(at, 1)[0]
    },
    /** Returns how many have not happened. */
    left: () => waiting.length,
  }
}

export type Disturbances = ReturnType<typeof createDisturbances>

type Answer = NonNullable<Disturbance['answer']>

const SECONDARY_URL = 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits'

/** Answers in the form of GitHub's documents to requests that it limits. */
export const LIMITS = {
  /** The hourly limit is used up until a time of Unix, in seconds. */
  primary: (reset: number): Answer => ({
    status: 403,
    headers: { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) },
    body: JSON.stringify({
      message: 'API rate limit exceeded for user ID 1.',
      documentation_url: SECONDARY_URL.replace(/#.*/, ''),
    }),
  }),
  /** Too many changes in a short time; without seconds the client is to wait a minute. */
  secondary: (seconds?: number): Answer => ({
    status: 403,
    headers: seconds === undefined ? {} : { 'retry-after': String(seconds) },
    body: JSON.stringify({
      message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      documentation_url: SECONDARY_URL,
    }),
  }),
}
