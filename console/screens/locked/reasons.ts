import type { Round, Session } from '../../client/api/types.ts'

/** What the documents of a round say about its lock; of documents of another form, only what can be read. */
export interface Reasons {
  banner: { level: string; title: string; description: string } | null
  /** Worst first. */
  violations: { rule_id: string; severity: string; resource: string; message: string }[]
}

const SEVERITIES = ['critical', 'error', 'warning', 'info']

/** The newest round that was reviewed: the one whose review decided on the lock. */
export const reviewedRound = ({ rounds }: Session): Round | null =>
  rounds.findLast(({ reports, compliance_checks }) => reports.length + compliance_checks.length > 0) ?? null

export function readReasons(report: unknown, compliance: unknown): Reasons {
  const banner = at(at(report, 'potential_impact'), 'banner')
  const violations = at(compliance, 'violations')
  return {
    banner:
      typeof at(banner, 'level') === 'string'
        ? {
            level: text(banner, 'level'),
            title: text(banner, 'title'),
            description: text(banner, 'description'),
          }
        : null,
    violations: (Array.isArray(violations) ? violations : [])
      .map((entry: unknown) => ({
        rule_id: text(entry, 'rule_id'),
        severity: text(entry, 'severity'),
        resource: text(entry, 'resource'),
        message: text(entry, 'message'),
      }))
      .sort((one, other) => rank(one.severity) - rank(other.severity)),
  }
}

const rank = (severity: string): number =>
  (SEVERITIES.indexOf(severity) + SEVERITIES.length + 1) % (SEVERITIES.length + 1)

function at(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function text(value: unknown, name: string): string {
  const found = at(value, name)
  return typeof found === 'string' ? found : ''
}
