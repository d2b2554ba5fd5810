import { TERMINAL_STATUSES } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import { sessionAggregateKey, sessionAggregateTtl } from './cache-keys.ts'
import { isUuid } from './is-uuid.ts'
import { readAggregate } from './read-aggregate.ts'
import type { SessionAggregate } from './types.ts'

type Needs = Pick<Context, 'sql' | 'cache' | 'storage'>

/**
 * A session with everything below it, in a constant number of queries; null when there is none.
 * Finished idle sessions come from the cache unless the history is asked for.
 */
export async function loadAggregate(
  context: Needs,
  uuid: string,
  options: { include_history: boolean },
): Promise<SessionAggregate | null> {
  if (!isUuid(uuid)) return null
  if (options.include_history) return readAggregate(context, uuid, options)
  const key = sessionAggregateKey(uuid)
  const cached = parseEntry(await context.cache.get(key))
  if (cached && (await isCurrent(context, cached))) return cached
  const aggregate = await readAggregate(context, uuid, options)
  if (aggregate && isFinished(aggregate)) {
    const ttl = Math.floor(Math.min(sessionAggregateTtl(), await halfOfUrls(context)))
    if (ttl > 0) await context.cache.set(key, JSON.stringify(aggregate), ttl)
  }
  return aggregate
}

/** Seconds. Temporary credentials end the URLs inside early: an entry then lives half as long, a reader has the rest. */
async function halfOfUrls({ storage }: Needs): Promise<number> {
  const lapse = await storage.urlsLapse()
  return lapse ? (lapse.getTime() - Date.now()) / 2000 : Number.POSITIVE_INFINITY
}

const isFinished = (session: SessionAggregate): boolean =>
  !session.in_flight && TERMINAL_STATUSES.some((status) => status === session.current_status)

/**
 * Every change of a session moves its `updated_at`. Asking for it closes the gap between a change
 * and the removal of the entry, also when the cache was away at that moment.
 */
async function isCurrent(context: Needs, cached: SessionAggregate): Promise<boolean> {
  const [row] = await context.sql<{ updated_at: string }[]>`SELECT updated_at FROM sessions WHERE uuid = ${cached.uuid}`
  return row?.updated_at === cached.updated_at
}

/** What we wrote ourselves; anything unreadable counts as absent. */
function parseEntry(text: string | null): SessionAggregate | null {
  if (text === null) return null
  try {
    const entry: SessionAggregate = JSON.parse(text)
    return typeof entry?.uuid === 'string' ? entry : null
  } catch {
    return null
  }
}
