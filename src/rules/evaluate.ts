import type { RuleGrades } from '../../config/types.ts'
import type { JsonObject } from '../base/json.ts'
import { joinNames } from '../base/text.ts'
import { SEVERITIES, type Severity } from '../base/vocabulary.ts'
import { mainAction } from '../plan/actions.ts'
import { withoutIndexes } from '../plan/addresses.ts'
import type { CodeFile } from '../plan/code/modules.ts'
import type { Plan } from '../plan/plan.ts'
import { managedChanges } from '../plan/planned-changes.ts'
import { changesOutsideTargets } from '../plan/targets.ts'
import { expressionsByAddress } from './common/expressions.ts'
import { RULES } from './index.ts'
import { typedManifest } from './kubernetes/manifests.ts'
import { completePolicies } from './policies/planned.ts'
import type { Cloud, CodeFindings, Finding, PlanContext, ResourceRule, Rule, RuleMessage, Subject } from './rule.ts'
import { objectOf } from './view.ts'

/** Most findings of one rule that are listed; a last entry counts the others. */
const MAX_LISTED = 100

interface EvaluationOptions {
  targets: readonly string[]
  grades: RuleGrades
  unasked?: readonly string[]
  code?: readonly CodeFile[]
}

/**
 * Checks a plan against all rules, deterministically: the most severe findings first, then in the order of rules and
 * plan. `checked_rules` are the rules for the plan's clouds that the operator has not switched off.
 * @param options targets of the plan (empty for the whole root), the operator's grades by rule id, the addresses that
 * the plan destroys although the request does not ask for it, and the code of the root, for policies that the plan does
 * not know
 */
export function evaluateRules(
  plan: Plan,
  { targets, grades, unasked = [], code = [] }: EvaluationOptions,
): CodeFindings {
  const { subjects, unread } = completePolicies(plan, subjectsOf(plan), code)
  const judged = new Set(subjects.filter(({ type }) => RULED.has(type)).map(({ address }) => address))
  const expressions = expressionsByAddress(plan)
  const context: PlanContext = {
    outside: new Set(changesOutsideTargets(plan, targets).map(({ address }) => address)),
    unasked: new Set(unasked),
    unread: unread.filter((address) => judged.has(address)),
    expressionsOf: (address) => expressions.get(withoutIndexes(address)) ?? NOTHING,
  }
  const forgotten = plan.resource_changes.filter((resource) => mainAction(resource) === 'forget')
  const clouds = new Set<string>(['common', ...[...subjects, ...forgotten].map(({ type }) => cloudOf(type))])
  const checked = RULES.filter(({ id }) => clouds.has(id.split('.')[0] ?? '')).flatMap((rule) => {
    const severity = grades[rule.id] ?? rule.severity
    return severity === 'off' ? [] : [{ rule, severity }]
  })
  const byType = Map.groupBy(subjects, ({ type }) => type)
  const findings = checked.flatMap(({ rule, severity }) => {
    if ('checkPlan' in rule) return toFindings(rule, severity, rule.checkPlan(plan, context))
    const examined = rule.types ? [...new Set(rule.types)].flatMap((type) => byType.get(type) ?? []) : subjects
    const messages = examined.flatMap((subject) =>
      messagesOf(rule, subject, context).map((message) => ({ resource: subject.address, message })),
    )
    return toFindings(rule, severity, rule.told === 'once' ? summed(messages) : messages)
  })
  return {
    findings: SEVERITIES.toReversed().flatMap((severity) =>
      findings.filter((finding) => finding.severity === severity),
    ),
    checked_rules: checked.map(({ rule }) => rule.id),
  }
}

const NOTHING: JsonObject = {}

/** Types that rules name. What others call a policy says nothing of access, such as how long logs are kept. */
const RULED = new Set(RULES.flatMap((rule) => ('types' in rule && rule.types) || []))

/** Returns messages of one rule about one resource, without faults that existed before an update. */
function messagesOf(rule: ResourceRule, subject: Subject, context: PlanContext): string[] {
  if (subject.action === 'delete' && rule.looksAt !== 'change') return []
  const check = (examined: Subject): string[] => {
    if ('check' in rule) return rule.check(examined, context)
    return rule.isBrokenBy(examined) ? [rule.message] : []
  }
  const messages = new Set(check(subject))
  if (messages.size > 0 && subject.action === 'update' && rule.looksAt !== 'change')
    for (const earlier of check({ ...subject, values: subject.before, unknown: undefined })) messages.delete(earlier)
  return [...messages]
}

/** Most resources that a finding about several names. */
const MAX_NAMED = 5

/** Returns one message about several resources; that about a single one stays. */
function summed(messages: RuleMessage[]): RuleMessage[] {
  const addresses = [...new Set(messages.map(({ resource }) => resource ?? ''))]
  if (addresses.length < 2) return messages
  return [{ resource: null, message: `${addresses.length} resources: ${joinNames(addresses, MAX_NAMED)}.` }]
}

function toFindings(rule: Rule, severity: Severity, messages: RuleMessage[]): Finding[] {
  const rest = messages.length - MAX_LISTED
  const listed = messages.slice(0, MAX_LISTED)
  if (rest > 0) listed.push({ resource: null, message: `${rest} more findings of this rule.` })
  return listed.map(({ resource, message }) => ({
    rule_id: rule.id,
    severity,
    resource,
    message,
    suggested_fix: rule.fix,
  }))
}

const PREFIXES: [prefix: string, cloud: Cloud][] = [
  ['aws_', 'aws'],
  ['azurerm_', 'azure'],
  ['azuread_', 'azure'],
  ['google_', 'gcp'],
  ['oci_', 'oci'],
  ['kubernetes_', 'kubernetes'],
  ['kubectl_', 'kubernetes'],
]

/** Returns the cloud of a resource type; `common` for types without a cloud's own rules. */
const cloudOf = (type: string): Cloud => PREFIXES.find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'common'

const RAW_MANIFESTS = new Set(['kubernetes_manifest', 'kubectl_manifest'])

/** Returns the changes of a plan for rules, without leftovers of interrupted replacements. */
function subjectsOf(plan: Plan): Subject[] {
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
