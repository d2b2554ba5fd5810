import type { Round } from '../../client/api/types.ts'

/** What of a report the lock is about. */
export interface Impact {
  level: string
  title: string
}

/** The impact of a generate report, whatever else is in it; null when it says none. */
export function readImpact(report: unknown): Impact | null {
  const banner = (report as { potential_impact?: { banner?: Partial<Impact> } } | null | undefined)?.potential_impact
    ?.banner
  return typeof banner?.level === 'string' ? { level: banner.level, title: String(banner.title ?? '') } : null
}

/** Why a session may be locked, as far as its newest review tells. */
export function lockReasons(round: Round, impact: Impact | null): string[] {
  const failed = round.compliance_checks.at(-1)?.passed === false
  const reasons = [
    impact?.level === 'high' && 'The impact of the plan is high: the higher of what code counts and what a model says.',
    failed && 'The audit of the plan did not pass.',
  ].filter((reason) => reason !== false)
  return reasons.length > 0 ? reasons : ['Nothing in this round explains it: another round or a person locked it.']
}
