import type { Fetch } from '../http/outbound.ts'

/** Only what is used of Node's built-in connection pool. */
type Pool = new (options: { headersTimeout: number; bodyTimeout: number }) => object

/**
 * `fetch` without the limits of its own that Node has (300 s to the first header and between parts of a
 * body), which a long model call exceeds; every caller sets its own timeout. Elsewhere plain `fetch`.
 * @param limit_ms 0 means none
 */
export function createFetch(limit_ms = 0): Fetch {
  let pool: Promise<object | null> | undefined
  return async (input, init) => {
    pool ??= createPool(limit_ms)
    const dispatcher = await pool
    return globalThis.fetch(input, dispatcher ? Object.assign({}, init, { dispatcher }) : init)
  }
}

/** Node does not export its pool's class; the instance it keeps for `fetch` has it. */
async function createPool(limit_ms: number): Promise<object | null> {
  if (!globalThis.process?.versions?.undici) return null
  // The instance exists after the first use.
  await globalThis.fetch('data:,')
  const kept: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  if (typeof kept !== 'object' || kept === null) return null
  return isPool(kept.constructor) ? new kept.constructor({ headersTimeout: limit_ms, bodyTimeout: limit_ms }) : null
}

const isPool = (value: unknown): value is Pool => typeof value === 'function' && value.name === 'Agent'
