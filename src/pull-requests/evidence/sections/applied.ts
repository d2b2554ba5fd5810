import type { ApplyReport } from '../../../reports/schemas.ts'
import { bulletList, capLines, code, inline, prose } from '../markdown.ts'
import { blocks, formatTime, type Section, section, unreadableSection } from '../section.ts'
import type { Evidence } from '../types.ts'

const MAX_FAILURES = 20

/** `Failed` stands both for a refused apply, where nothing happened, and for one whose outcome nobody knows. */
const OUTCOMES: Record<ApplyReport['status'], string> = {
  Success: ' and is complete',
  Partial: ' and is complete in part only',
  Failed: ' and changed nothing that is known',
}

const toAddress = (type: string, name: string): string =>
  type === '' || name.includes(type) ? name : `${type}.${name}`

/** Says what an apply round of the session has already done to the infrastructure. */
export function appliedSection({ apply, generate }: Evidence): Section | null {
  if (!apply) return null
  if (!apply.document) return unreadableSection('Applied', apply)
  const { status, summary, execution_summary, resource_changes } = apply.document
  const counts =
    `${summary.created} created, ${summary.updated} updated, ${summary.destroyed} destroyed, ${summary.failed} ` +
    'failed'
  const which = generate && generate.round > apply.round ? 'an earlier plan of this session' : 'the reviewed plan'
  const lead =
    `An apply of ${which} ran before this pull request was opened${OUTCOMES[status]}. **${status}: ${counts}** ` +
    `(round ${apply.round}, ${formatTime(apply.created_at)}).`
  const failures = resource_changes
    .filter((change) => change.status === 'failed')
    .map(
      ({ resource_type, resource_name, error_message, details }) =>
        `${code(toAddress(resource_type, resource_name))}: ${inline(error_message ?? details, 300)}`,
    )
  const failed = failures.length > 0 && blocks('Failed:', bulletList(capLines(failures, MAX_FAILURES)))
  const narration = (max: number) => prose(execution_summary, max)
  return section('Applied', blocks(lead, narration(1_000), failed), blocks(lead, status === 'Failed' && narration(300)))
}
