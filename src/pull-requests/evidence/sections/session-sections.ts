import { INTENT_TITLE, isIntentTitle } from '../../../rules/intent/describe.ts'
import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, code, inline } from '../markdown.ts'
import { blocks, type Section, section, unreadableSection } from '../section.ts'

/** Names the session and its branch, with a link if there is a URL template. */
export function sessionSection({ session }: Evidence, sessionUrl: string): Section {
  return section('Session', blocks(`${sessionReference(session.uuid, sessionUrl)}, branch ${code(session.branch)}.`))
}

/** Returns a link to the session's page (template `https://ui.example/{session_id}`), or its id without a template. */
export function sessionReference(uuid: string, sessionUrl: string): string {
  if (sessionUrl === '') return `Session \`${uuid}\``
  const { href } = new URL(sessionUrl.replaceAll('{session_id}', uuid))
  const percentEncoded = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  return `[Session ${uuid}](${href.replace(/[()\\*_~[\]`|]/g, percentEncoded)})`
}

/** Renders the most important warnings for reviewers as quoted lines; empty when there are none. */
export function listNotices({ session, rounds, generate }: Evidence): string {
  const last = rounds.at(-1)
  const reviewed = generate?.round ?? 0
  return blocks(
    session.is_blocked && '> **This session is locked: merging and applying are blocked.**',
    session.in_flight && '> A round of this session is running: the branch may still change.',
    !session.in_flight &&
      last?.status === 'failed' &&
      last.number > reviewed &&
      last.mode !== 'apply' &&
      `> Round ${last.number}, the latest, failed. The branch may hold code that no evidence below is about.`,
  )
}

/** Lists the request's statements that the reviewed plan meets, and those that it does not. */
export function requestSection({ generate }: Evidence): Section | null {
  if (!generate) return null
  if (!generate.document) return unreadableSection(INTENT_TITLE, generate)
  const point = generate.document.potential_impact.bullet_points.findLast(({ title }) => isIntentTitle(title))
  if (!point)
    return section(
      INTENT_TITLE,
      'Not checked: there are no statements about the request that code could compare with the plan.',
    )
  const [lead = '', ...lines] = point.description.split('\n')
  const statements = lines.map((line) => inline(line.replace(/^- /, ''), 600)).filter((line) => line !== '')
  const form = (max: number) => blocks(inline(lead, 600), bulletList(capLines(statements, max)))
  return section(INTENT_TITLE, form(statements.length), form(5))
}
