import type { RuleGrades } from '../../config/types.ts'
import type { Severity } from '../base/vocabulary.ts'
import type { Cloud, Rule } from './types.ts'

/** A rule with the severity that is in force: the operator's or, without one, its own. */
export interface GradedRule {
  rule: Rule
  severity: Severity
}

/** Applies the operator's grades to rules and leaves out those that are switched off. */
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

/** The cloud that a resource type belongs to; `common` when only the rules for every type apply. */
export const cloudOf = (type: string): Cloud => PREFIXES.find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'common'
