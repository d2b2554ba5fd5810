import type { RuleGrades } from '../../config/types.ts'
import type { Severity } from '../base/vocabulary.ts'
import type { Plan } from '../plan/plan.ts'
import { planContext } from './context.ts'
import { RULES } from './index.ts'
import { cloudOf, type GradedRule, gradedRules } from './settings.ts'
import { beforeOf, subjectsOf } from './subjects.ts'
import type { CodeFindings, Finding, PlanContext, ResourceRule, Subject } from './types.ts'

export interface RuleOptions {
  /** What the plan was made for; none means the whole root. */
  targets: readonly string[]
  /** The operator's grades by rule id. */
  grades: RuleGrades
}

/** More findings of one rule are counted, not listed. */
const MAX_LISTED = 100
const ORDER: readonly Severity[] = ['critical', 'error', 'warning', 'info']

/**
 * Checks a plan against the table of rules; the same plan always gives the same findings. The gravest
 * come first, each severity in the order of the rules and of the plan. Counted as checked are the rules
 * for the clouds of this plan that are not switched off.
 */
export function evaluateRules(plan: Plan, { targets, grades }: RuleOptions): CodeFindings {
  const subjects = subjectsOf(plan)
  const context = planContext(plan, targets)
  const clouds = new Set(['common', ...subjects.map(({ type }) => cloudOf(type))])
  const checked = gradedRules(RULES, grades).filter(({ rule }) => clouds.has(rule.cloud))
  const byType = Map.groupBy(subjects, ({ type }) => type)
  const findings = checked.flatMap((graded) => listed(graded, findingsOf(graded, subjects, byType, plan, context)))
  return {
    findings: ORDER.flatMap((severity) => findings.filter((finding) => finding.severity === severity)),
    checked_rules: checked.map(({ rule }) => rule.id),
  }
}

interface Found {
  resource: string | null
  message: string
}

function findingsOf(
  { rule }: GradedRule,
  subjects: Subject[],
  byType: ReadonlyMap<string, Subject[]>,
  plan: Plan,
  context: PlanContext,
): Found[] {
  if ('checkPlan' in rule) return rule.checkPlan(plan)
  const lookedAt = rule.types ? [...new Set(rule.types)].flatMap((type) => byType.get(type) ?? []) : subjects
  return lookedAt.flatMap((subject) =>
    messagesOf(rule, subject, context).map((message) => ({ resource: subject.address, message })),
  )
}

/** What an update leaves as bad as it was is not the doing of this plan. */
function messagesOf(rule: ResourceRule, subject: Subject, context: PlanContext): string[] {
  if (rule.looksAt === 'change') return [...new Set(rule.check(subject, context))]
  if (subject.action === 'delete') return []
  const messages = new Set(rule.check(subject, context))
  if (messages.size > 0 && subject.action === 'update')
    for (const known of rule.check(beforeOf(subject), context)) messages.delete(known)
  return [...messages]
}

function listed({ rule, severity }: GradedRule, found: Found[]): Finding[] {
  const violation = ({ resource, message }: Found): Finding => ({
    rule_id: rule.id,
    severity,
    resource,
    message,
    suggested_fix: rule.fix,
  })
  const rest = found.length - MAX_LISTED
  const shown = found.slice(0, MAX_LISTED).map(violation)
  return rest > 0 ? [...shown, violation({ resource: null, message: `${rest} more findings of this rule.` })] : shown
}
