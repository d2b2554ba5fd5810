import { code, inline, table } from '../markdown.ts'
import { blocks, type Section, section, unreadableSection } from '../section.ts'
import type { Evidence } from '../types.ts'

const MAX_ROWS = 40

/** Shows the report's estimate of the monthly cost and says that it is an estimate. */
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
