import { INTENT_TITLE, isIntentTitle } from '../../../rules/intent/describe.ts'
import { bulletList, capLines, inline } from '../markdown.ts'
import { blocks, type Section, section, unreadableSection } from '../section.ts'
import type { Evidence } from '../types.ts'

/** Says which statements of the request code found in the reviewed plan and which it did not. */
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
