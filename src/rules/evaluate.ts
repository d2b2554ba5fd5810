import type { RuleGrades } from '../../config/types.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import type { Severity } from '../base/vocabulary.ts'
import { withoutIndexes } from '../plan/addresses.ts'
import type { Plan } from '../plan/plan.ts'
import { managedChanges } from '../plan/planned-changes.ts'
import { changesOutsideTargets } from '../plan/targets/targets.ts'
import { expressionsByAddress } from './common/expressions.ts'
import { RULES } from './index.ts'
import { typedManifest } from './kubernetes/manifest.ts'
import type { Cloud, CodeFindings, Finding, PlanContext, ResourceRule, Rule, RuleMessage, Subject } from './rule.ts'

export interface RuleOptions {
  /** Targets of the plan; empty for the whole root. */
  targets: readonly string[]
  /** Operator's grades by rule id. */
  grades: RuleGrades
}

/** Most findings of one rule that are listed; a last entry counts the others. */
const MAX_LISTED = 100
const ORDER: readonly Severity[] = ['critical', 'error', 'warning', 'info']

/**
 * Checks a plan against all rules, deterministically: the most severe findings first, then in the order of rules and
 * plan. `checked_rules` are the rules for the plan's clouds that the operator has not switched off.
 */
export function evaluateRules(plan: Plan, { targets, grades }: RuleOptions): CodeFindings {
  const subjects = subjectsOf(plan)
  const context = planContext(plan, targets)
  const clouds = new Set(['common', ...subjects.map(({ type }) => cloudOf(type))])
  const checked = gradeRules(RULES, grades).filter(({ rule }) => clouds.has(rule.cloud))
  const byType = Map.groupBy(subjects, ({ type }) => type)
  const findings = checked.flatMap((graded) => toFindings(graded, findingsOf(graded, subjects, byType, plan, context)))
  return {
    findings: ORDER.flatMap((severity) => findings.filter((finding) => finding.severity === severity)),
    checked_rules: checked.map(({ rule }) => rule.id),
  }
}

function findingsOf(
  { rule }: GradedRule,
  subjects: Subject[],
  byType: ReadonlyMap<string, Subject[]>,
  plan: Plan,
  context: PlanContext,
): RuleMessage[] {
  if ('checkPlan' in rule) return rule.checkPlan(plan)
  const examined = rule.types ? [...new Set(rule.types)].flatMap((type) => byType.get(type) ?? []) : subjects
  return examined.flatMap((subject) =>
    messagesOf(rule, subject, context).map((message) => ({ resource: subject.address, message })),
  )
}

/** Returns messages of one rule about one resource, without faults that existed before an update. */
function messagesOf(rule: ResourceRule, subject: Subject, context: PlanContext): string[] {
  if (rule.looksAt === 'change') return [...new Set(rule.check(subject, context))]
  if (subject.action === 'delete') return []
  const messages = new Set(rule.check(subject, context))
  if (messages.size > 0 && subject.action === 'update')
    for (const earlier of rule.check(beforeOf(subject), context)) messages.delete(earlier)
  return [...messages]
}

function toFindings({ rule, severity }: GradedRule, messages: RuleMessage[]): Finding[] {
  const toFinding = ({ resource, message }: RuleMessage): Finding => ({
    rule_id: rule.id,
    severity,
    resource,
    message,
    suggested_fix: rule.fix,
  })
  const rest = messages.length - MAX_LISTED
  const findings = messages.slice(0, MAX_LISTED).map(toFinding)
  return rest > 0
    ? [...findings, toFinding({ resource: null, message: `${rest} more findings of this rule.` })]
    : findings
}

/** A rule with its effective severity: the operator's, else its own. */
export interface GradedRule {
  rule: Rule
  severity: Severity
}

/** Applies the operator's grades and removes rules that are switched off. */
export function gradeRules(rules: readonly Rule[], grades: RuleGrades): GradedRule[] {
  return rules.flatMap((rule) => {
    const grade = Object.hasOwn(grades, rule.id) ? (grades[rule.id] ?? rule.severity) : rule.severity
    return grade === 'off' ? [] : [{ rule, severity: grade }]
  })
}

const PREFIXES: [prefix: string, cloud: Cloud][] = [
  ['aws_', 'aws'],
  ['azurerm_', 'azure'],
  ['google_', 'gcp'],
  ['oci_', 'oci'],
  ['kubernetes_', 'kubernetes'],
  ['kubectl_', 'kubernetes'],
]

/** Returns the cloud of a resource type; `common` for types without a cloud's own rules. */
export const cloudOf = (type: string): Cloud => PREFIXES.find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'common'

const RAW_MANIFESTS = new Set(['kubernetes_manifest', 'kubectl_manifest'])
const objectOf = (value: Json): JsonObject => (isJsonObject(value) ? value : {})

/** Returns the changes of a plan for rules, without leftovers of interrupted replacements. */
export function subjectsOf(plan: Plan): Subject[] {
  return managedChanges(plan)
    .filter(({ resource }) => resource.deposed === undefined)
    .map(({ resource: { address, type, change }, action }) => {
      const subject: Subject = {
        address,
        type,
        action,
        values: action === 'delete' ? {} : objectOf(change.after),
        unknown: change.after_unknown,
        sensitive: change.after_sensitive,
        before: objectOf(change.before),
      }
      return RAW_MANIFESTS.has(type) ? (typedManifest(subject) ?? subject) : subject
    })
}

/** Returns the resource before an update as the subject. */
export const beforeOf = (subject: Subject): Subject => ({ ...subject, values: subject.before, unknown: undefined })

const NOTHING: JsonObject = {}

/** Computes the facts about a plan that rules use beside the resource. */
export function planContext(plan: Plan, targets: readonly string[]): PlanContext {
  const expressions = expressionsByAddress(plan)
  return {
    outside: new Set(changesOutsideTargets(plan, targets).map(({ address }) => address)),
    expressionsOf: (address) => expressions.get(withoutIndexes(address)) ?? NOTHING,
  }
}
