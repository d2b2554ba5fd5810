import { delay } from '../src/base/http.ts'
import type { Context } from '../src/context.ts'
import type { Readiness } from '../src/pull-requests/readiness/findings.ts'
import { removeSessions } from '../src/rounds/removal.ts'
import { sessionAggregateKey } from '../src/rounds/round.ts'
import {
  countOldSessions,
  findOldSessions,
  forgetRemovedSessions,
  keepSessions,
  markObjectsGone,
  type OldSession,
  type Place,
  readLeftObjects,
} from '../src/sessions/retention.ts'

const DAY_MS = 24 * 3_600_000
/** How long removed sessions are remembered, so that workers know whose folders they have. */
const REMEMBERED_MS = 30 * DAY_MS
/** When a session with an open pull request is looked at again. */
const ASKED_AGAIN_MS = DAY_MS
/** Longest pause between two batches. */
const MAX_PAUSE_MS = 5_000
/** Deletions of objects at the same time. */
const DELETIONS = 8
/** Questions to a git host, in a sweep and without an answer; with more of either, it is left alone until the next one. */
const MAX_QUESTIONS = 1_000
const MAX_FAILURES = 3
/** Longest wait for an answer about one pull request. */
const QUESTION_MS = 15_000

export type RetentionContext = Pick<Context, 'config' | 'sql' | 'cache' | 'storage' | 'fetch' | 'log' | 'now'>

/**
 * Removes sessions in which nothing has happened for `retention.days`, batch by batch: their rows in one transaction,
 * which remembers the sessions, then their objects. What a crash leaves is deleted by the next call, also when the setting
 * is off by then. Between batches it pauses for as long as the last one took.
 * Errors: those of the database and of the object store.
 */
export async function removeOldSessions(
  context: RetentionContext,
  signal: AbortSignal,
  { batch = 50, pause = true }: { batch?: number; pause?: boolean } = {},
): Promise<{ sessions: number; objects: number }> {
  const { config, sql, log } = context
  const removed = { sessions: 0, objects: await deleteLeftObjects(context, signal) }
  await forgetRemovedSessions(sql, new Date(context.now().getTime() - REMEMBERED_MS))
  const { days } = config.retention
  if (days === 0) return removed
  const before = new Date(context.now().getTime() - days * DAY_MS)
  const host = askHosts(context, signal)
  for (let after: Place | null = null; !signal.aborted; ) {
    const started = performance.now()
    const found: OldSession[] = await findOldSessions(sql, { before, after, now: context.now(), limit: batch })
    after = found.at(-1) ?? null
    if (after === null) break
    const kept = await host.keep(found)
    const ids = found.filter(({ id }) => !kept.has(id)).map(({ id }) => id)
    const uuids = ids.length === 0 ? [] : await removeSessions(sql, ids, before)
    if (uuids.length > 0) await context.cache.delete(...uuids.map(sessionAggregateKey))
    removed.sessions += uuids.length
    removed.objects += await deleteObjects(context, uuids, signal)
    if (pause) await delay(Math.min(performance.now() - started, MAX_PAUSE_MS), signal).catch(() => {})
  }
  const kept = await countOldSessions(sql, before)
  if (removed.sessions + kept > 0)
    log.info('old sessions removed', { ...removed, kept, pull_requests_asked: host.asked(), retention_days: days })
  return removed
}

/** Deletes the objects of sessions that were removed before a process ended. */
async function deleteLeftObjects(context: RetentionContext, signal: AbortSignal): Promise<number> {
  let objects = 0
  while (!signal.aborted) {
    const uuids = await readLeftObjects(context.sql, 100)
    if (uuids.length === 0) break
    objects += await deleteObjects(context, uuids, signal)
  }
  return objects
}

/** Deletes everything that the store has of removed sessions, also what no row names. */
async function deleteObjects(context: RetentionContext, uuids: readonly string[], signal: AbortSignal) {
  const gone: string[] = []
  let objects = 0
  try {
    for (const uuid of uuids) {
      if (signal.aborted) break
      objects += await deleteObjectsOf(context, uuid)
      gone.push(uuid)
    }
  } finally {
    if (gone.length > 0) await markObjectsGone(context.sql, gone)
  }
  return objects
}

async function deleteObjectsOf({ storage }: RetentionContext, uuid: string): Promise<number> {
  const prefix = `sessions/${uuid}/`
  let objects = 0
  let last: string | undefined
  for (let keys = await storage.list(prefix); keys.length > 0; keys = await storage.list(prefix)) {
    if (keys[0] === last) throw new Error(`the object store lists ${last} after its deletion`)
    last = keys[0]
    for (let at = 0; at < keys.length; at += DELETIONS)
      await Promise.all(keys.slice(at, at + DELETIONS).map((key) => storage.delete(key)))
    objects += keys.length
  }
  return objects
}

/** Asks the git host for pull requests, because it is the only one to know whether they are open. */
function askHosts(context: RetentionContext, signal: AbortSignal) {
  let asked = 0
  let failures = 0
  const readStatus = async (uri: string, number: number): Promise<Readiness['status']> => {
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(QUESTION_MS)])
      const { createPullRequestHost } = await import('../src/pull-requests/host-of.ts')
      return (await createPullRequestHost(context, uri).readiness(number, { signal: limit })).status
    } catch (error) {
      if (!signal.aborted) context.log.info('whether a pull request is open could not be read', { number, error })
      return 'unknown'
    }
  }
  /** Whether the session has a pull request that is open; null when the host does not say. */
  const hasOpen = async ({ uri, pull_requests }: OldSession): Promise<boolean | null> => {
    for (const number of pull_requests) {
      if (asked >= MAX_QUESTIONS || failures >= MAX_FAILURES || signal.aborted) return null
      asked++
      const status = await readStatus(uri, number)
      failures = status === 'unknown' ? failures + 1 : 0
      if (status === 'unknown') return null
      if (status !== 'merged' && status !== 'closed') return true
    }
    return false
  }
  return {
    asked: () => asked,
    /** Returns the ids of the sessions that stay, and remembers those with an open pull request for a day. */
    keep: async (sessions: readonly OldSession[]): Promise<Set<number>> => {
      const kept = new Set<number>()
      const open: number[] = []
      for (const session of sessions) {
        const isOpen = await hasOpen(session)
        if (isOpen !== false) kept.add(session.id)
        if (isOpen === true) open.push(session.id)
      }
      if (open.length > 0) await keepSessions(context.sql, open, new Date(context.now().getTime() + ASKED_AGAIN_MS))
      return kept
    },
  }
}
