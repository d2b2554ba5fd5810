import ipaddr from 'ipaddr.js'
import type { Context } from '../../context.ts'
import type { Sql } from '../../data/db/sql.ts'

export type RefusalCounter = ReturnType<typeof createRefusalCounter>

const FLUSH_AFTER_MS = 5_000
/** Address prefixes that are kept apart between two writes; the rest is counted as `OTHER`. */
const MOST_IN_MEMORY = 200
/** Rows per hour before further prefixes are counted as `OTHER`. It bounds the table, not the counts. */
const MOST_ROWS_AN_HOUR = 40
const MAX_REASON = 100
const OTHER = 'other'

interface Count {
  hour: string
  reason: string
  prefix: string
  refusals: number
}

/**
 * Makes a counter of refused sign-ins, since an attacker can cause any number of them. It writes at most every five
 * seconds, independently of the requests that it counts. Its methods never throw.
 */
export function createRefusalCounter({ sql, log, now }: Pick<Context, 'sql' | 'log' | 'now'>) {
  let counts = new Map<string, Count>()
  let timer: ReturnType<typeof setTimeout> | null = null
  let writing: Promise<void> = Promise.resolve()

  const add = ({ hour, reason, prefix, refusals }: Count) => {
    const keyOf = (part: string) => JSON.stringify([hour, reason, part])
    const part = counts.has(keyOf(prefix)) || counts.size < MOST_IN_MEMORY ? prefix : OTHER
    const known = counts.get(keyOf(part))
    if (known) known.refusals += refusals
    else if (counts.size < 2 * MOST_IN_MEMORY) counts.set(keyOf(part), { hour, reason, prefix: part, refusals })
  }
  const write = async () => {
    const written = counts
    counts = new Map()
    if (written.size === 0) return
    await writeCounts(sql, [...written.values()]).catch((error: unknown) => {
      log.warn('refused sign-ins could not be counted yet', { error })
      for (const count of written.values()) add(count)
      schedule()
    })
  }
  const flush = () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    writing = writing.then(write)
    return writing
  }
  const schedule = () => {
    if (timer !== null) return
    timer = setTimeout(flush, FLUSH_AFTER_MS)
    // The timer must not keep an idle process alive; a regular shutdown flushes.
    if (typeof timer === 'object') timer.unref()
  }
  return {
    /** Counts one in memory. */
    count: (reason: string, address: string | null): void => {
      const hour = `${now().toISOString().slice(0, 13)}:00:00Z`
      add({ hour, reason: reason.slice(0, MAX_REASON), prefix: toPrefix(address), refusals: 1 })
      schedule()
    },
    /** Writes the counts since the last flush. Those that could not be written are kept for the next one. */
    flush,
  }
}

/** Returns the network of an address: 24 bits of IPv4 or 48 of IPv6, the usual allocation of one caller. */
export function toPrefix(address: string | null): string {
  if (address === null || !ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  const bits = parsed.kind() === 'ipv4' ? 24 : 48
  const kind = parsed.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  return `${kind.networkAddressFromCIDR(`${parsed}/${bits}`)}/${bits}`
}

/** Writes the counts. All processes use the same order of rows, so that they cannot deadlock. */
async function writeCounts(sql: Sql, counts: readonly Count[]): Promise<void> {
  const column = <K extends keyof Count>(name: K) => counts.map((count) => count[name])
  await sql`
    WITH counted AS (
      SELECT * FROM unnest(${column('hour')}::timestamptz[], ${column('reason')}::text[], ${column('prefix')}::text[],
                           ${column('refusals')}::bigint[]) AS c(hour, reason, prefix, refusals)
    ), ranked AS (
      SELECT c.*, k.hour IS NOT NULL AS known,
        row_number() OVER (PARTITION BY c.hour, k.hour IS NOT NULL ORDER BY c.refusals DESC)
          + (SELECT count(*) FROM sign_in_refusals r WHERE r.hour = c.hour) AS place
      FROM counted c LEFT JOIN sign_in_refusals k
        ON k.hour = c.hour AND k.reason = c.reason AND k.address_prefix = c.prefix
    ), placed AS (
      SELECT hour, reason, refusals,
        CASE WHEN known OR place <= ${MOST_ROWS_AN_HOUR} THEN prefix ELSE ${OTHER} END AS prefix
      FROM ranked
    )
    INSERT INTO sign_in_refusals (hour, reason, address_prefix, refusals)
    SELECT hour, reason, prefix, sum(refusals) FROM placed GROUP BY hour, reason, prefix ORDER BY hour, reason, prefix
    ON CONFLICT (hour, reason, address_prefix)
      DO UPDATE SET refusals = sign_in_refusals.refusals + excluded.refusals`
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MAX_SPAN_MS = 31 * DAY_MS

/**
 * Sums up refused sign-ins of full hours, by reason and by network of the caller, the most frequent first: of the day
 * before `before`, or from `after` on but at most 31 days. Counts lag by seconds.
 */
export async function sumRefusals(sql: Sql, { after, before, now }: { after?: string; before?: string; now: Date }) {
  const end = before === undefined ? now.getTime() : Date.parse(before)
  const wanted = after === undefined ? end - DAY_MS : Date.parse(after)
  const start = Math.max(Math.min(wanted, end), end - MAX_SPAN_MS)
  const from = new Date(Math.floor(start / HOUR_MS) * HOUR_MS).toISOString()
  const until = new Date(end).toISOString()
  const rows = await sql<{ reason: string | null; address_prefix: string | null; refusals: number }[]>`
    SELECT reason, address_prefix, sum(refusals)::bigint AS refusals FROM sign_in_refusals
    WHERE hour >= ${from}::timestamptz AND hour < ${until}::timestamptz
    GROUP BY GROUPING SETS ((reason), (address_prefix)) ORDER BY 3 DESC, 1, 2`
  const reasons = rows.flatMap(({ reason, refusals }) => (reason === null ? [] : [{ reason, refusals }]))
  const addresses = rows.flatMap(({ address_prefix, refusals }) =>
    address_prefix === null ? [] : [{ address_prefix, refusals }],
  )
  return {
    from,
    until,
    total: reasons.reduce((sum, { refusals }) => sum + refusals, 0),
    reasons: reasons.slice(0, MOST_REASONS),
    addresses: addresses.slice(0, MOST_ADDRESSES),
  }
}

const MOST_REASONS = 50
const MOST_ADDRESSES = 20
