import { BEYOND_TITLE, isBeyondTitle } from '../../../plan/targets.ts'
import { isBackgroundTitle } from '../../../reports/settle-generate.ts'
import { isIntentTitle } from '../../../rules/intent/describe.ts'
import type { Evidence } from '../evidence.ts'
import { bulletList, capLines, code, inline, table } from '../markdown.ts'
import { blocks, type Section, section, unreadableSection } from '../section.ts'

const MAX_POINTS = 30

/** Shows the plan's impact level with reasons, except the two that have sections of their own. */
export function impactSection({ generate }: Evidence): Section | null {
  if (!generate) return null
  if (!generate.document) return unreadableSection('Impact', generate)
  const { banner, summary, bullet_points } = generate.document.potential_impact
  const lead = (max: number) =>
    `**${banner.level}**: ${[inline(banner.title, 200), inline(banner.description, max)].filter(Boolean).join('. ')}`
  const points = bullet_points
    .filter(({ title }) => !isBeyondTitle(title) && !isIntentTitle(title) && !isBackgroundTitle(title))
    .map(({ title, description }) => [inline(title, 200), inline(description, 600)].filter(Boolean).join(': '))
  return section(
    'Impact',
    blocks(lead(1_500), inline(summary, 1_500), bulletList(capLines(points, MAX_POINTS))),
    lead(250),
  )
}

/** Shows whole-root changes that the reviewed plan leaves out because of its targets. */
export function outsideSection({ generate, plan }: Evidence): Section | null {
  if (!generate) return null
  if (!generate.document) return unreadableSection(BEYOND_TITLE, generate)
  const point = generate.document.potential_impact.bullet_points.findLast(({ title }) => isBeyondTitle(title))
  if (!point) {
    const whole = plan !== null && plan.targets.length === 0
    return section(
      BEYOND_TITLE,
      whole ? 'The whole root was planned: nothing is left out.' : 'Not available for this plan.',
    )
  }
  const [lead = '', ...lines] = point.description.split('\n')
  const outsideLines = lines.map(outsideLine).filter((line) => line !== '')
  const form = (max: number) => blocks(inline(lead, 600), bulletList(capLines(outsideLines, max)))
  return section(BEYOND_TITLE, form(outsideLines.length), form(5))
}

function outsideLine(line: string): string {
  const [, action, address] = /^- (create|update|delete|recreate) (.+)$/.exec(line) ?? []
  return action && address ? `${action} ${code(address)}` : inline(line.replace(/^- /, ''))
}

const MAX_ROWS = 40

/** Shows the report's monthly cost, labelled as an estimate. */
export function costSection({ generate }: Evidence): Section | null {
  if (!generate) return null
  if (!generate.document) return unreadableSection('Cost estimate', generate)
  const { currency, total_fixed_monthly_cost, introduction_paragraph, breakdown } = generate.document.estimated_costs
  const lead =
    `**${currency} ${total_fixed_monthly_cost.toFixed(2)} a month** for what has a fixed price. An estimate of ` +
    'a model, not an offer.'
  const rows = breakdown
    .slice(0, MAX_ROWS)
    .map(({ resource_type, pricing_model, fixed_monthly_cost, notes }) => [
      code(resource_type),
      pricing_model.replace('_', ' '),
      pricing_model === 'fixed' ? fixed_monthly_cost.toFixed(2) : '',
      inline(notes, 200),
    ])
  return section(
    'Cost estimate',
    blocks(
      lead,
      inline(introduction_paragraph, 1_000),
      rows.length > 0 && table(['Resource', 'Pricing', `${currency} a month`, 'Note'], rows),
      breakdown.length > MAX_ROWS && `and ${breakdown.length - MAX_ROWS} more`,
    ),
    lead,
  )
}
