import type { JournalChannel } from './round-event.ts'

/** Channel of PostgreSQL's NOTIFY that tells of new events. The payload is a `bellOf`. */
export const EVENTS_BELL = 'platform_events'

/** What a notification says: the channel of the events and the uuid of their session, `activity:<uuid>`. */
export const bellOf = (channel: JournalChannel, sessionUuid: string): string => `${channel}:${sessionUuid}`
