import { bulleted, capped, code, inline } from '../markdown.ts'
import { blocks, type Section, section, timeOf, unreadable } from '../section.ts'
import type { Evidence } from '../types.ts'

const MAX_FAILURES = 20

/** What an apply round of the session already did to the infrastructure. */
export function appliedSection({ apply, generate }: Evidence): Section | null {
  if (!apply) return null
  if (!apply.document) return unreadable('Applied', apply)
  const { status, summary, execution_summary, resource_changes } = apply.document
  const counts = `${summary.created} created, ${summary.updated} updated, ${summary.destroyed} destroyed, ${summary.failed} failed`
  const which = generate && generate.round > apply.round ? 'An earlier plan of this session' : 'The reviewed plan'
  const lead = `${which} was applied before this pull request was opened. **${status}: ${counts}** (round ${apply.round}, ${timeOf(apply.created_at)}).`
  const failures = resource_changes
    .filter((change) => change.status === 'failed')
    .map(({ resource_name, error_message, details }) => `${code(resource_name)}: ${inline(error_message ?? details, 300)}`)
  const failed = failures.length > 0 && blocks('Failed:', bulleted(capped(failures, MAX_FAILURES)))
  return section('Applied', blocks(lead, inline(execution_summary, 1_000), failed), lead)
}
