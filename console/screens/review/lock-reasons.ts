import type { Round, Session } from '../../client/api/schemas.ts'
import { objectOf, textOf } from '../../client/json.ts'

export interface Impact {
  level: string
  title: string
  description: string
}

/** Returns the impact of a generate report; null when the document has none. */
export function readImpact(report: unknown): Impact | null {
  const { level, title, description } = objectOf(objectOf(objectOf(report).potential_impact).banner)
  return typeof level === 'string' ? { level, title: textOf(title), description: textOf(description) } : null
}

/** Returns the newest reviewed round, whose review decided on the lock. */
export const reviewedRound = ({ rounds }: Session): Round | null =>
  rounds.findLast(({ reports, compliance_checks }) => reports.length + compliance_checks.length > 0) ?? null

/** Returns the reasons why a session may be locked, from its newest review. */
export function lockReasons(round: Round, impact: Impact | null): string[] {
  const failed = round.compliance_checks.at(-1)?.passed === false
  const reasons = [
    impact?.level === 'high' &&
      'The impact of the plan is high: the higher of what code computes and what a model states.',
    failed && 'The compliance check of the plan failed.',
  ].filter((reason) => reason !== false)
  return reasons.length > 0 ? reasons : ['Nothing in this round explains it: another round or a person locked it.']
}
