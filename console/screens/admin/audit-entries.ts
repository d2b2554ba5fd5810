import type { Components } from '../../client/api/types.ts'

export type AuditRecord = Components['AuditPage']['items'][number]

/** What was done, in words. */
export const ACTIONS: Record<AuditRecord['action'], string> = {
  round_accepted: 'Asked for a round',
  round_cancelled: 'Stopped a round',
  apply_accepted: 'Asked for an apply',
  apply_ended: 'Apply ended',
  pull_request_opened: 'Opened a pull request',
  pull_request_updated: 'Updated a pull request',
  merge_begun: 'Began a merge',
  merge_completed: 'Merged',
  session_locked: 'Locked a session',
  session_unlocked: 'Unlocked a session',
  roles_changed: 'Changed roles',
  user_created: 'Signed in for the first time',
}

const NAMES: Record<string, string> = {
  is_partial: 'part of the scope',
  user_id: 'user id',
}

/** The details of an entry as pairs of name and value, for people. Names that are not known are shown as they are. */
export function toFacts(detail: Record<string, unknown>): [name: string, value: string][] {
  return Object.entries(detail)
    .filter(([, value]) => value !== null && value !== false)
    .map(([name, value]) => [NAMES[name] ?? name.replaceAll('_', ' '), toWords(value)])
}

function toWords(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (value === true) return 'yes'
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.map(toWords).join(', ')
  return Object.entries(value)
    .map(([name, inner]) => `${name.replaceAll('_', ' ')}: ${toWords(inner)}`)
    .join(', ')
}
