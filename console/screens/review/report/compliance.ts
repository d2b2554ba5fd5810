import type { PlanDocument } from '../../../client/api/client.ts'
import { listOf, objectOf, oneOf, textOf } from '../../../client/json.ts'
import { CLOUDS } from '../../../ui/words.ts'
import type { ChangedFile } from '../code/changes.ts'
import { SEVERITIES } from '../plan/plan-filter.ts'

export type Compliance = NonNullable<ReturnType<typeof readCompliance>>
export type Finding = Compliance['findings'][number]

/** The ids of rules in code, such as `aws.network.open-all-ports`. A model's own ids have no dots. */
const CODE_RULE = /^(common|aws|azure|gcp|oci|kubernetes)\.[a-z0-9-]+\.[a-z0-9-]+$/

const isCodeRule = (id: string): boolean => id.length < 200 && CODE_RULE.test(id)

/**
 * Reads a compliance check, or null. Only findings in `plan` count as code's, even if a model uses the id of a rule.
 */
export function readCompliance(document: unknown, plan: PlanDocument | undefined) {
  const { passed, summary, violations, checked_rules } = objectOf(document)
  if (typeof passed !== 'boolean') return null
  const known = plan ? findingsOf(plan) : null
  const findings = listOf(violations)
    .map((value) => readFinding(value, known))
    .sort((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity))
  const found = new Set(findings.map(({ rule }) => rule))
  const checked = [...new Set(listOf(checked_rules).map(textOf))].filter((id) => id !== '')
  const byCode = checked.filter(isCodeRule)
  return {
    passed,
    summary: textOf(summary),
    /** The findings, the most severe first. */
    findings,
    /** The rules without a finding, by area. */
    passedGroups: groupRules(checked.filter((id) => !found.has(id))),
    checkedByCode: byCode.length,
    checkedByModel: checked.length - byCode.length,
  }
}

function findingsOf(plan: PlanDocument): Set<string> {
  const own = plan.resources.flatMap(({ address, findings }) => findings.map(({ rule_id }) => `${rule_id}\n${address}`))
  return new Set([...own, ...plan.findings.map(({ rule_id, resource }) => `${rule_id}\n${resource ?? ''}`)])
}

function readFinding(value: unknown, known: ReadonlySet<string> | null) {
  const { rule_id, severity, resource, message, suggested_fix } = objectOf(value)
  const rule = textOf(rule_id)
  const isKnown = known === null || known.has(`${rule}\n${textOf(resource)}`)
  return {
    rule,
    severity: oneOf(SEVERITIES, severity, 'error'),
    resource: textOf(resource) || null,
    message: textOf(message),
    fix: textOf(suggested_fix) || null,
    by: isCodeRule(rule) && isKnown ? ('code' as const) : ('model' as const),
  }
}

const AREAS: Record<string, string> = { common: 'Every cloud', ...CLOUDS }

const FAMILIES: Record<string, string> = { iam: 'identities and access', stateful: 'stored data' }

function groupRules(ids: readonly string[]) {
  const groups = Map.groupBy(ids, (id) => {
    const [cloud = '', family = ''] = id.split('.')
    return isCodeRule(id) ? `${AREAS[cloud]}: ${FAMILIES[family] ?? family}` : ''
  })
  return [...groups].map(([area, rules]) => ({
    area: area || 'Checked by the auditing model',
    by: area ? ('code' as const) : ('model' as const),
    rules: rules.map((id) => ({ id, name: nameOfRule(id) })),
  }))
}

/** Returns the name of a rule: `open admin port` for `aws.network.open-admin-port`. */
export const nameOfRule = (id: string): string =>
  (isCodeRule(id) ? (id.split('.').at(-1) ?? id) : id).replaceAll(/[_-]+/g, ' ')

/** Returns the place of a resource block in changed files; null for modules, whose folder is unknown. */
export function findBlock(
  address: string,
  files: readonly Pick<ChangedFile, 'name' | 'result'>[],
): { file: string; line: number } | null {
  const [, data, type, name] = /^(data\.)?([\w-]+)\.([\w-]+)(?:\[.*\])?$/.exec(address) ?? []
  if (!type || !name) return null
  const head = `${data ? 'data' : 'resource'} "${type}" "${name}"`
  for (const { name: file, result } of files) {
    const line = result?.rows.find(({ text, after }) => after !== null && text.startsWith(head))?.after
    if (line) return { file, line }
  }
  return null
}
