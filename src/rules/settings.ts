import type { RuleGrades } from '../../config/types.ts'
import type { Severity } from '../base/vocabulary.ts'
import type { Cloud, Rule } from './types.ts'

/** A rule with the severity that the operator wants. */
export interface GradedRule {
  rule: Rule
  severity: Severity
}

/** Rules that are not switched off, with their severities. */
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
