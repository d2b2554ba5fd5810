import type { Fetch } from '../base/http.ts'

/** Only what is used of Node's built-in connection pool. */
type Pool = new (options: PoolLimits) => object
interface PoolLimits {
  headersTimeout: number
  bodyTimeout: number
  connectTimeout?: number
}

/**
 * `fetch` without the limits of its own that Node has (300 s to the first header and between parts of a
 * body), which a long model call exceeds; every caller sets its own timeout. Elsewhere plain `fetch`.
 * @param limit_ms wait for the first header and between parts of a body; 0 means none
 * @param connect_ms wait for a connection, on Node only; default that of the runtime
 */
export function createFetch(limit_ms = 0, connect_ms?: number): Fetch {
  let pool: Promise<object | null> | undefined
  return async (input, init) => {
    pool ??= createPool({
      headersTimeout: limit_ms,
      bodyTimeout: limit_ms,
      ...(connect_ms ? { connectTimeout: connect_ms } : {}),
    })
    const dispatcher = await pool
    return globalThis.fetch(input, dispatcher ? Object.assign({}, init, { dispatcher }) : init)
  }
}

/** Node does not export its pool's class; the instance it keeps for `fetch` has it. */
async function createPool(limits: PoolLimits): Promise<object | null> {
  if (!globalThis.process?.versions?.undici) return null
  // The instance exists after the first use.
  await globalThis.fetch('data:,')
  const kept: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  if (typeof kept !== 'object' || kept === null) return null
  return isPool(kept.constructor) ? new kept.constructor(limits) : null
}

const isPool = (value: unknown): value is Pool => typeof value === 'function' && value.name === 'Agent'
