import type { Evidence } from './evidence.ts'
import { cut, prose } from './markdown.ts'
import { blocks, type Section } from './section.ts'
import { assumptionsSection } from './sections/assumptions.ts'
import { complianceSection } from './sections/compliance.ts'
import { driftSection } from './sections/drift-section.ts'
import { costSection, impactSection, outsideSection } from './sections/impact.ts'
import { planSection, roundsSection } from './sections/plan-section.ts'
import { appliedSection, importSection } from './sections/result-sections.ts'
import { rollBackSection } from './sections/roll-back.ts'
import { listNotices, requestSection, sessionReference, sessionSection } from './sections/session-sections.ts'

const MAX_SUMMARY = 8_000
/** Share of a short limit that the summary may use. */
const SUMMARY_SHARE = 0.3

export interface DescriptionOptions {
  /** Longest description that the host accepts, in UTF-16 units. */
  limit: number
  session_url: string
}

/**
 * Composes a pull request's description: the model's summary, then sections from stored evidence. To fit the limit,
 * sections are shortened one by one, the least important first, then left out in the same order. A note names them.
 * @param summary prose of a model
 */
export function composeDescription(
  summary: string,
  evidence: Evidence,
  { limit, session_url }: DescriptionOptions,
): string {
  const head = blocks(listNotices(evidence), prose(summary, Math.min(MAX_SUMMARY, Math.floor(limit * SUMMARY_SHARE))))
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
  return fitToLimit(head, sections, limit, sessionReference(evidence.session.uuid, session_url))
}

/** A section with the index of the chosen form in `forms`; null when it is left out. */
type ChosenForm = Section & { form: number | null }

function fitToLimit(head: string, sections: readonly Section[], limit: number, sessionLink: string): string {
  const chosen: ChosenForm[] = sections.map((part) => ({ ...part, form: 0 }))
  const leastImportantFirst = chosen.toSorted((a, b) => a.rank - b.rank)
  for (;;) {
    const text = renderDescription(head, chosen, sessionLink)
    if (text.length <= limit) return text
    const next =
      leastImportantFirst.find(({ form, forms }) => form === 0 && forms.length > 1) ??
      leastImportantFirst.find(({ form }) => form !== null)
    if (!next) return cut(text, limit)
    next.form = next.form !== null && next.form < next.forms.length - 1 ? next.form + 1 : null
  }
}

function renderDescription(head: string, chosen: readonly ChosenForm[], sessionLink: string): string {
  const leftOut = chosen.filter(({ form }) => form === null).map(({ title }) => title)
  const shortened = chosen.filter(({ form }) => form !== null && form > 0).map(({ title }) => title)
  const note = [
    leftOut.length > 0 && `Left out because the host limits the length: ${leftOut.join(', ')}.`,
    shortened.length > 0 && `Shortened: ${shortened.join(', ')}.`,
  ].filter(Boolean)
  const bodies = chosen.map(({ title, forms, form }) => form !== null && `## ${title}\n\n${forms[form] ?? ''}`)
  return blocks(
    head,
    ...bodies,
    note.length > 0 && `_${note.join(' ')} The whole evidence is with the session: ${sessionLink}._`,
  )
}
