import { isIntentTitle } from '../../../intent/told.ts'
import { BEYOND_TITLE, isBeyondTitle } from '../../../plan/targets.ts'
import { bulleted, capped, code, inline } from '../markdown.ts'
import { blocks, type Section, section, unreadable } from '../section.ts'
import type { Evidence } from '../types.ts'

const MAX_POINTS = 30

/** The banner with its reasons. */
export function impactSection({ generate }: Evidence): Section | null {
  if (!generate) return null
  if (!generate.document) return unreadable('Impact', generate)
  const { banner, summary, bullet_points } = generate.document.potential_impact
  const lead = (max: number) =>
    `**${banner.level}**: ${[inline(banner.title, 200), inline(banner.description, max)].filter(Boolean).join('. ')}`
  const points = bullet_points
    .filter(({ title }) => !isBeyondTitle(title) && !isIntentTitle(title))
    .map(({ title, description }) => [inline(title, 200), inline(description, 600)].filter(Boolean).join(': '))
  return section('Impact', blocks(lead(1_500), inline(summary, 1_500), bulleted(capped(points, MAX_POINTS))), lead(250))
}

/** What a plan of the whole root would change that the reviewed one leaves out. */
export function outsideSection({ generate, plan }: Evidence): Section | null {
  if (!generate) return null
  if (!generate.document) return unreadable(BEYOND_TITLE, generate)
  const told = generate.document.potential_impact.bullet_points.findLast(({ title }) => isBeyondTitle(title))
  if (!told) {
    const whole = plan !== null && plan.targets.length === 0
    return section(
      BEYOND_TITLE,
      whole ? 'The whole root was planned: nothing is left out.' : 'Not available for this plan.',
    )
  }
  const [lead = '', ...lines] = told.description.split('\n')
  const shown = lines.map(outsideLine).filter((line) => line !== '')
  const form = (max: number) => blocks(inline(lead, 600), bulleted(capped(shown, max)))
  return section(BEYOND_TITLE, form(shown.length), form(5))
}

function outsideLine(line: string): string {
  const [, action, address] = /^- (create|update|delete|recreate) (.+)$/.exec(line) ?? []
  return action && address ? `${action} ${code(address)}` : inline(line.replace(/^- /, ''))
}
