import type { ApplyReport } from '../../../reports/schemas.ts'
import { bulleted, capped, code, inline, prose } from '../markdown.ts'
import { blocks, type Section, section, timeOf, unreadable } from '../section.ts'
import type { Evidence } from '../types.ts'

const MAX_FAILURES = 20

/** `Failed` stands for a refused apply, where nothing happened, and for one whose outcome nobody knows. */
const ENDED: Record<ApplyReport['status'], string> = {
  Success: ' and is complete',
  Partial: ' and is complete in part only',
  Failed: ' and changed nothing that is known',
}

const addressOf = (type: string, name: string): string =>
  type === '' || name.includes(type) ? name : `${type}.${name}`

/** What an apply round of the session already did to the infrastructure. */
export function appliedSection({ apply, generate }: Evidence): Section | null {
  if (!apply) return null
  if (!apply.document) return unreadable('Applied', apply)
  const { status, summary, execution_summary, resource_changes } = apply.document
  const counts = `${summary.created} created, ${summary.updated} updated, ${summary.destroyed} destroyed, ${summary.failed} failed`
  const which = generate && generate.round > apply.round ? 'an earlier plan of this session' : 'the reviewed plan'
  const lead = `An apply of ${which} ran before this pull request was opened${ENDED[status]}. **${status}: ${counts}** (round ${apply.round}, ${timeOf(apply.created_at)}).`
  const failures = resource_changes
    .filter((change) => change.status === 'failed')
    .map(
      ({ resource_type, resource_name, error_message, details }) =>
        `${code(addressOf(resource_type, resource_name))}: ${inline(error_message ?? details, 300)}`,
    )
  const failed = failures.length > 0 && blocks('Failed:', bulleted(capped(failures, MAX_FAILURES)))
  const told = (max: number) => prose(execution_summary, max)
  return section('Applied', blocks(lead, told(1_000), failed), blocks(lead, status === 'Failed' && told(300)))
}
