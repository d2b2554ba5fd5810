import type { Round } from '../../client/api/schemas.ts'
import { hasEnded, lastStatus } from '../../client/sessions/use-session.ts'

/** The report of an apply, as the platform stores it. Readers must tolerate unknown fields. */
export interface ApplyReport {
  summary: { total_resources: number; created: number; updated: number; destroyed: number; failed: number }
  status: 'Success' | 'Partial' | 'Failed'
  execution_summary: string
  resource_changes: {
    resource_type: string
    resource_name: string
    action: 'created' | 'updated' | 'destroyed' | 'no_change'
    status: 'success' | 'failed'
    details: string
    error_message: string | null
  }[]
  recommendations: string[]
}

export type Outcome = 'success' | 'partial' | 'failed' | 'nothing' | 'unknown'

/** True for an apply round, which is recognized by its status, its report or its request. */
export const isApplyRound = ({ reports, statuses, query, attempts }: Round): boolean =>
  reports.some(({ type }) => type === 'apply') ||
  statuses.some(({ status }) => status === 'apply') ||
  (query === 'Engine apply.' && attempts.length === 0)

/** Returns the report of an apply; null for any other document. */
export function readReport(value: unknown): ApplyReport | null {
  const { summary, status, resource_changes, recommendations, execution_summary } = (value ?? {}) as ApplyReport
  const isReport =
    typeof summary === 'object' &&
    summary !== null &&
    ['Success', 'Partial', 'Failed'].includes(status) &&
    typeof execution_summary === 'string' &&
    Array.isArray(resource_changes) &&
    Array.isArray(recommendations)
  return isReport ? (value as ApplyReport) : null
}

/** Returns the outcome; unknown for a report without resources. A refused apply lists all changes as not done. */
export function outcomeOf({ status, summary, resource_changes }: ApplyReport): Outcome {
  if (status === 'Success') return 'success'
  if (status === 'Partial') return 'partial'
  if (resource_changes.length === 0 && summary.total_resources === 0) return 'unknown'
  const begun = resource_changes.some(({ action, error_message }) => action !== 'no_change' || error_message !== null)
  return begun ? 'failed' : 'nothing'
}

/** Returns how an apply round without a report ended; null while it runs. */
export function endWithoutReport(round: Round): 'cancelled' | 'failed' | 'lost' | null {
  if (!hasEnded(round) || round.reports.some(({ type }) => type === 'apply')) return null
  const status = lastStatus(round)?.status
  return status === 'uncompleted' ? 'cancelled' : status === 'failed' ? 'failed' : 'lost'
}
