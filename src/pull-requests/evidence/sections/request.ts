import { INTENT_TITLE, isIntentTitle } from '../../../intent/told.ts'
import { bulleted, capped, inline } from '../markdown.ts'
import { blocks, type Section, section, unreadable } from '../section.ts'
import type { Evidence } from '../types.ts'

/** What of the request code found in the reviewed plan, and what not. */
export function requestSection({ generate }: Evidence): Section | null {
  if (!generate) return null
  if (!generate.document) return unreadable(INTENT_TITLE, generate)
  const told = generate.document.potential_impact.bullet_points.findLast(({ title }) => isIntentTitle(title))
  if (!told)
    return section(
      INTENT_TITLE,
      'Not checked: there are no statements about the request that code could compare with the plan.',
    )
  const [lead = '', ...lines] = told.description.split('\n')
  const shown = lines.map((line) => inline(line.replace(/^- /, ''), 600)).filter((line) => line !== '')
  const form = (max: number) => blocks(inline(lead, 600), bulleted(capped(shown, max)))
  return section(INTENT_TITLE, form(shown.length), form(5))
}
