import { type Fields, numberOf, objectOf, objectsOf, oneOf, textOf } from '../../../client/json.ts'

const ACTIONS = ['create', 'update', 'delete', 'recreate'] as const
type PlanAction = (typeof ACTIONS)[number]
const STATE_ACTIONS = ['move', 'import', 'forget'] as const

export type GenerateReport = NonNullable<ReturnType<typeof readGenerateReport>>
export type Point = ReturnType<typeof readPoint>

/** Reads the report of a generate round; null for any other document. */
export function readGenerateReport(document: unknown) {
  const { summary, detailed_changes, state_changes, potential_impact, estimated_costs } = objectOf(document)
  if (potential_impact === undefined && detailed_changes === undefined) return null
  const impact = objectOf(potential_impact)
  const banner = objectOf(impact.banner)
  const counted = objectOf(summary)
  return {
    counts: Object.fromEntries(ACTIONS.map((name) => [name, numberOf(counted[name])])) as Record<PlanAction, number>,
    /** What the plan does in the state alone, where it does anything there. */
    stateCounts: STATE_ACTIONS.map((name) => ({ name, count: numberOf(counted[name]) })).filter(
      ({ count }) => count > 0,
    ),
    stateChanges: objectsOf(state_changes).map(({ name, action, previous_name, summary: short }) => ({
      name: textOf(name),
      action: oneOf(STATE_ACTIONS, action, 'move'),
      before: textOf(previous_name),
      summary: textOf(short),
    })),
    changes: objectsOf(detailed_changes).map(({ name, action, summary: short, notes, details }) => ({
      name: textOf(name),
      action: oneOf(ACTIONS, action, 'update'),
      summary: textOf(short),
      notes: textOf(notes),
      details: textOf(details),
    })),
    banner: {
      level: oneOf(['low', 'medium', 'high'], banner.level, 'high'),
      title: textOf(banner.title),
      description: textOf(banner.description),
    },
    summary: textOf(impact.summary),
    points: objectsOf(impact.bullet_points).map(readPoint),
    costs: readCosts(objectOf(estimated_costs)),
  }
}

/** The entries that code writes, even if the model used these titles. */
const BY_CODE = [
  'checked against the request',
  'outside the targets',
  'changes of others taken over',
  'what was checked, and what was not',
]

function readPoint({ title, description }: Fields) {
  const name = textOf(title)
  const lines = textOf(description).split('\n')
  const first = lines.findIndex((line) => line.startsWith('- '))
  const isList = first >= 0 && lines.slice(first).every((line) => line.startsWith('- ') || line.trim() === '')
  return {
    title: name,
    /** The sentences before the list. */
    lead: (isList ? lines.slice(0, first) : lines).join('\n').trim(),
    items: isList ? lines.slice(first).flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : [])) : [],
    by: BY_CODE.includes(name.trim().toLowerCase()) ? ('code' as const) : ('model' as const),
  }
}

const readCosts = ({ currency, total_fixed_monthly_cost, introduction_paragraph, breakdown }: Fields) => ({
  currency: textOf(currency),
  total: numberOf(total_fixed_monthly_cost),
  introduction: textOf(introduction_paragraph),
  rows: objectsOf(breakdown).map(({ resource_type, pricing_model, fixed_monthly_cost, notes }) => ({
    type: textOf(resource_type),
    pricing: oneOf(['fixed', 'usage_based', 'free'], pricing_model, 'usage_based'),
    monthly: numberOf(fixed_monthly_cost),
    notes: textOf(notes),
  })),
})

/** Formats an amount in the report's currency. A currency unknown to the browser follows the number. */
export function formatAmount(amount: number, currency: string): string {
  try {
    return new Intl.NumberFormat('en-GB', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' }).format(
      amount,
    )
  } catch {
    return `${amount.toFixed(2)} ${currency}`.trim()
  }
}

const ADDRESS = /(?:^|\s)((?:module\.[\w-]+(?:\[(?:\d+|"[^"]*")\])?\.)*[\w-]+\.[\w-]+(?:\[(?:\d+|"[^"]*")\])?)$/

/** Returns the address at the end of a line of a list by code: `create aws_s3_bucket.logs`. */
export const addressIn = (line: string): string | null => (line.length > 500 ? null : (ADDRESS.exec(line)?.[1] ?? null))

/** Returns the impact of a generate report; null when the document has none. */
export function readImpact(report: unknown) {
  const { level, title, description } = objectOf(objectOf(objectOf(report).potential_impact).banner)
  return typeof level === 'string' ? { level, title: textOf(title), description: textOf(description) } : null
}
