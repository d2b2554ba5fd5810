import { cutEnd } from '../../base/text.ts'
import type { Evidence } from './evidence.ts'
import { code, inline, prose } from './markdown.ts'
import { blocks, type Section, section } from './section.ts'
import {
  assumptionsSection,
  complianceSection,
  costSection,
  impactSection,
  outsideSection,
  requestSection,
} from './sections/assessment.ts'
import { planSection, rollBackSection, roundsSection } from './sections/plan-section.ts'
import { appliedSection, driftSection, importSection } from './sections/results.ts'

/** Share of a short limit that the summary may use. */
const SUMMARY_SHARE = 0.3

/**
 * Composes a pull request's description: the model's summary, then sections from stored evidence. To fit the limit,
 * sections are shortened one by one, the least important first, then left out in the same order. A note names them.
 * @param summary prose of a model
 * @param limit longest description that the host accepts, in UTF-16 units
 */
export function composeDescription(
  summary: string,
  evidence: Evidence,
  { limit, session_url }: { limit: number; session_url: string },
): string {
  const head = blocks(listNotices(evidence), prose(summary, Math.min(8_000, Math.floor(limit * SUMMARY_SHARE))))
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
    if (!next) return cutEnd(text, limit)
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

/** Names the session and its branch, with a link if there is a URL template. */
function sessionSection({ session }: Evidence, sessionUrl: string): Section {
  return section('Session', blocks(`${sessionReference(session.uuid, sessionUrl)}, branch ${code(session.branch)}.`))
}

/** Returns a link to the session's page (template `https://ui.example/{session_id}`), or its id without a template. */
function sessionReference(uuid: string, sessionUrl: string): string {
  if (sessionUrl === '') return `Session \`${uuid}\``
  const { href } = new URL(sessionUrl.replaceAll('{session_id}', uuid))
  const percentEncoded = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  return `[Session ${uuid}](${href.replace(/[()\\*_~[\]`|]/g, percentEncoded)})`
}

/** Renders the most important warnings for reviewers as quoted lines; empty when there are none. */
function listNotices({ session, rounds, generate }: Evidence): string {
  const last = rounds.at(-1)
  const reviewed = generate?.round ?? 0
  const gaps = rounds.find(({ number }) => number === reviewed)?.result?.gaps ?? []
  return blocks(
    ...gaps.map((gap) => `> ${inline(gap, 600)}`),
    session.is_blocked && '> **This session is locked: merging and applying are blocked.**',
    session.in_flight && '> A round of this session is running: the branch may still change.',
    !session.in_flight &&
      last?.status === 'failed' &&
      last.number > reviewed &&
      last.mode !== 'apply' &&
      `> Round ${last.number}, the latest, failed. The branch may hold code that no evidence below is about.`,
  )
}
