import type { Round, Session } from '../../../client/api/schemas.ts'
import { listOf, numberOf, objectOf, oneOf, textOf } from '../../../client/json.ts'

const LEVELS = ['low', 'medium', 'high'] as const
const ACTIONS = ['create', 'update', 'delete', 'recreate'] as const
const PRICES = ['fixed', 'usage_based', 'free'] as const

export interface GenerateReport {
  counts: Record<(typeof ACTIONS)[number], number>
  changes: { name: string; action: (typeof ACTIONS)[number]; summary: string; notes: string; details: string }[]
  banner: { level: (typeof LEVELS)[number]; title: string; description: string }
  summary: string
  points: Point[]
  costs: {
    currency: string
    total: number
    introduction: string
    rows: { type: string; pricing: (typeof PRICES)[number]; monthly: number; notes: string }[]
  }
}

export interface Point {
  title: string
  /** The sentences before the list. */
  lead: string
  items: string[]
  by: 'code' | 'model'
}

/** Reads the report of a generate round; null for any other document. */
export function readGenerateReport(document: unknown): GenerateReport | null {
  const { summary, detailed_changes, potential_impact, estimated_costs } = objectOf(document)
  if (potential_impact === undefined && detailed_changes === undefined) return null
  const impact = objectOf(potential_impact)
  const banner = objectOf(impact.banner)
  const counted = objectOf(summary)
  return {
    counts: Object.fromEntries(ACTIONS.map((name) => [name, numberOf(counted[name])])) as GenerateReport['counts'],
    changes: listOf(detailed_changes).map(readChange),
    banner: {
      level: oneOf(LEVELS, banner.level, 'high'),
      title: textOf(banner.title),
      description: textOf(banner.description),
    },
    summary: textOf(impact.summary),
    points: listOf(impact.bullet_points).map(readPoint),
    costs: readCosts(estimated_costs),
  }
}

function readChange(value: unknown): GenerateReport['changes'][number] {
  const { name, action, summary, notes, details } = objectOf(value)
  return {
    name: textOf(name),
    action: oneOf(ACTIONS, action, 'update'),
    summary: textOf(summary),
    notes: textOf(notes),
    details: textOf(details),
  }
}

/** The entries that code writes, even if the model used these titles. */
const BY_CODE = [
  'checked against the request',
  'outside the targets',
  'changes of others taken over',
  'what was checked, and what was not',
]

function readPoint(value: unknown): Point {
  const { title, description } = objectOf(value)
  const name = textOf(title)
  const lines = textOf(description).split('\n')
  const first = lines.findIndex((line) => line.startsWith('- '))
  const isList = first >= 0 && lines.slice(first).every((line) => line.startsWith('- ') || line.trim() === '')
  return {
    title: name,
    lead: (isList ? lines.slice(0, first) : lines).join('\n').trim(),
    items: isList ? lines.slice(first).flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : [])) : [],
    by: BY_CODE.includes(name.trim().toLowerCase()) ? 'code' : 'model',
  }
}

function readCosts(value: unknown): GenerateReport['costs'] {
  const { currency, total_fixed_monthly_cost, introduction_paragraph, breakdown } = objectOf(value)
  return {
    currency: textOf(currency),
    total: numberOf(total_fixed_monthly_cost),
    introduction: textOf(introduction_paragraph),
    rows: listOf(breakdown).map((row) => {
      const { resource_type, pricing_model, fixed_monthly_cost, notes } = objectOf(row)
      return {
        type: textOf(resource_type),
        pricing: oneOf(PRICES, pricing_model, 'usage_based'),
        monthly: numberOf(fixed_monthly_cost),
        notes: textOf(notes),
      }
    }),
  }
}

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

export interface Impact {
  level: string
  title: string
  description: string
}

/** Returns the impact of a generate report; null when the document has none. */
export function readImpact(report: unknown): Impact | null {
  const { level, title, description } = objectOf(objectOf(objectOf(report).potential_impact).banner)
  return typeof level === 'string' ? { level, title: textOf(title), description: textOf(description) } : null
}

/** Returns the newest reviewed round, whose review decided on the lock. */
export const reviewedRound = ({ rounds }: Session): Round | null =>
  rounds.findLast(({ reports, compliance_checks }) => reports.length + compliance_checks.length > 0) ?? null

/** Returns the reasons why a session may be locked, from its newest review. */
export function lockReasons(round: Round, impact: Impact | null): string[] {
  const failed = round.compliance_checks.at(-1)?.passed === false
  const reasons = [
    impact?.level === 'high' &&
      'The impact of the plan is high: the higher of what code computes and what a model states.',
    failed && 'The compliance check of the plan failed.',
  ].filter((reason) => reason !== false)
  return reasons.length > 0 ? reasons : ['Nothing in this round explains it: another round or a person locked it.']
}
