import { cut, prose } from './markdown.ts'
import { blocks, type Section } from './section.ts'
import { appliedSection } from './sections/applied.ts'
import { assumptionsSection } from './sections/assumptions.ts'
import { complianceSection } from './sections/compliance.ts'
import { costSection } from './sections/cost.ts'
import { driftSection } from './sections/drift.ts'
import { impactSection, outsideSection } from './sections/impact.ts'
import { importSection } from './sections/import.ts'
import { planSection, roundsSection } from './sections/plan.ts'
import { requestSection } from './sections/request.ts'
import { rollBackSection } from './sections/roll-back.ts'
import { notices, reference, sessionSection } from './sections/session.ts'
import type { Evidence } from './types.ts'

const MAX_SUMMARY = 8_000
/** What of a short limit the summary may take. */
const SUMMARY_SHARE = 0.3

export interface DescriptionOptions {
  /** UTF-16 units that the host takes. */
  limit: number
  session_url: string
}

/**
 * The description of a pull request: the model's summary, then sections made by code from stored evidence.
 * Where that is longer than the host takes, all sections are shortened, then the least important ones are
 * left out, and a note says which.
 * @param summary prose of a model
 */
export function composeDescription(
  summary: string,
  evidence: Evidence,
  { limit, session_url }: DescriptionOptions,
): string {
  const head = blocks(notices(evidence), prose(summary, Math.min(MAX_SUMMARY, Math.floor(limit * SUMMARY_SHARE))))
  const sections = [
    planSection(evidence),
    driftSection(evidence),
    importSection(evidence),
    appliedSection(evidence),
    impactSection(evidence),
    requestSection(evidence),
    complianceSection(evidence),
    costSection(evidence),
    assumptionsSection(evidence),
    outsideSection(evidence),
    rollBackSection(evidence),
    roundsSection(evidence),
    sessionSection(evidence, session_url),
  ].filter((part) => part !== null)
  return fitted(head, sections, limit, reference(evidence.session.uuid, session_url))
}

/** A section with the form it is shown in; null: left out. */
type Shown = Section & { form: number | null }

function fitted(head: string, sections: readonly Section[], limit: number, where: string): string {
  const shown: Shown[] = sections.map((part) => ({ ...part, form: 0 }))
  const weakest_first = shown.toSorted((a, b) => a.rank - b.rank)
  for (;;) {
    const text = rendered(head, shown, where)
    if (text.length <= limit) return text
    const next =
      weakest_first.find(({ form, forms }) => form === 0 && forms.length > 1) ??
      weakest_first.find(({ form }) => form !== null)
    if (!next) return cut(text, limit)
    next.form = next.form !== null && next.form < next.forms.length - 1 ? next.form + 1 : null
  }
}

function rendered(head: string, shown: readonly Shown[], where: string): string {
  const left_out = shown.filter(({ form }) => form === null).map(({ title }) => title)
  const shortened = shown.filter(({ form }) => form !== null && form > 0).map(({ title }) => title)
  const note = [
    left_out.length > 0 && `Left out because the host limits the length: ${left_out.join(', ')}.`,
    shortened.length > 0 && `Shortened: ${shortened.join(', ')}.`,
  ].filter(Boolean)
  const bodies = shown.map(({ title, forms, form }) => form !== null && `## ${title}\n\n${forms[form] ?? ''}`)
  return blocks(
    head,
    ...bodies,
    note.length > 0 && `_${note.join(' ')} The whole evidence is with the session: ${where}._`,
  )
}
