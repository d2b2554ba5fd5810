import type { Session, Status } from './api/types.ts'

/** What the browser says about notifications; `unsupported` also where the page was not loaded over https. */
export type Permission = 'granted' | 'denied' | 'default' | 'unsupported'

export const readPermission = (): Permission =>
  'Notification' in window && window.isSecureContext ? Notification.permission : 'unsupported'

export const mayNotify = (): boolean => readPermission() === 'granted'

const ENDS: Partial<Record<Status, string>> = {
  completed: 'Round completed',
  uncompleted: 'Round ended early',
  failed: 'Round failed',
}
const LONGEST = 160

/** What the browser tells about a round that has ended: no word of a plan, because others may see the screen. */
export function endText({ current_status, rounds, first_query, is_blocked }: EndedSession) {
  const query = rounds.at(-1)?.query ?? first_query ?? ''
  const title = `${ENDS[current_status] ?? 'Round ended'}${is_blocked ? ', session locked' : ''}`
  return { title, body: query.length <= LONGEST ? query : `${query.slice(0, LONGEST - 1).toWellFormed()}…` }
}

interface EndedSession extends Pick<Session, 'current_status' | 'first_query' | 'is_blocked'> {
  rounds: readonly Pick<Session['rounds'][number], 'query'>[]
}
