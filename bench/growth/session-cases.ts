import type { SessionFilter } from '../../src/sessions/list.ts'
import type { SessionSelection } from '../../src/sessions/lists/matches.ts'

type ListCase = [name: string, filter: Omit<SessionFilter, 'page' | 'page_size'> & { page?: number }]

/** The lists of a user and of administrators: pages, filters, orders and searches. */
export const listCases = (ownerId: number, sessions: number): ListCase[] => [
  ['own, first page', { owner_id: ownerId }],
  ['own, status', { owner_id: ownerId, status: 'failed' }],
  ['own, search for a word', { owner_id: ownerId, search: 'database' }],
  ['own, search for two letters', { owner_id: ownerId, search: 'vp' }],
  ['all, first page', {}],
  ['all, operation', { operation: 'drift' }],
  ['all, rare status', { status: 'apply' }],
  ['all, owner by e-mail', { user_email: 'person.17@' }],
  ['all, search for a word that one in seven has', { search: 'database' }],
  ['all, search for a repository', { search: 'acme/infrastructure-17' }],
  ['all, search for what everyone has', { search: 'https://github.com' }],
  ['all, search for part of an id', { search: 'a1b2' }],
  ['all, search without a match', { search: 'zzqq' }],
  ['all, search and status', { search: 'bucket', status: 'failed' }],
  ['all, search for one letter', { search: 'e' }],
  ['all, search for two letters that nobody has', { search: 'vp' }],
  ['all, page in the middle', { page: Math.floor(sessions / 40) }],
  ['own, by last activity', { owner_id: ownerId, sort: 'last_activity' }],
  ['own, cloud and mode', { owner_id: ownerId, cloud: 'gcp', mode: 'apply' }],
  ['all, by last activity', { sort: 'last_activity' }],
  ['all, cloud', { cloud: 'aws' }],
  ['all, rare cloud', { cloud: 'oci' }],
  ['all, rare cloud, mode and status', { cloud: 'oci', mode: 'generate', status: 'failed' }],
  ['all, mode by last activity', { mode: 'import', sort: 'last_activity' }],
  ['all, locked', { locked: true }],
  ['all, not locked, page 10', { locked: false, page: 10 }],
  ['all, repository', { repo_uri: 'https://github.com/Acme/infrastructure-17' }],
  ['all, repository and mode by last activity', OF_REPOSITORY],
  ['all, last 30 days', { created_after: daysAgo(30) }],
  ['all, before 1 day ago', { created_before: daysAgo(1) }],
  ['all, a month in the middle by last activity', midPeriod(sessions)],
  ['all, half of the time, cloud and locked', { ...midPeriod(sessions, 0.5), ...LOCKED_GCP }],
  ['all, search, cloud and mode', { search: 'acme/infrastructure-17', cloud: 'aws', mode: 'apply' }],
]
const LOCKED_GCP = { cloud: 'gcp', locked: true, sort: 'created' } as const
const REPOSITORY = 'https://github.com/acme/infrastructure-17'
const OF_REPOSITORY = { repo_uri: REPOSITORY, mode: 'drift', sort: 'last_activity' } as const

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().replace('Z', '000Z')

/** Returns a period around the middle of the seeded time: 30 days, or this share of it. */
function midPeriod(sessions: number, share?: number) {
  const days = (sessions * 3) / (24 * 60)
  const half = (share === undefined ? Math.min(30, days / 2) : days * share) / 2
  const [created_after, created_before] = [daysAgo(days / 2 + half), daysAgo(days / 2 - half)]
  return { created_after, created_before, sort: 'last_activity' } as const
}

/** The totals by status of the administrators' summary. */
export const totalsCases = (sessions: number): [name: string, selection: SessionSelection][] => [
  ['summary of all', {}],
  ['summary of a cloud, not locked', { cloud: 'aws', locked: false }],
  ['summary of one owner by e-mail', { user_email: 'person.17@' }],
  ['summary of a repository', { repo_uri: REPOSITORY }],
  ['summary of half of the time', (({ sort: _, ...period }) => period)(midPeriod(sessions, 0.5))],
]

/** Completes the filter of a case to a page of 20. */
export const toFilter = ({ page = 1, ...filter }: ListCase[1]): SessionFilter => ({ ...filter, page, page_size: 20 })
