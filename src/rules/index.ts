import type { RuleGrades } from '../../config/types.ts'
import { awsRules } from './aws.ts'
import { azureRules } from './azure.ts'
import { changeRules } from './common/change-rules.ts'
import { secretRules } from './common/secrets.ts'
import { evidenceRules } from './evidence.ts'
import { gcpRules } from './gcp.ts'
import { kubernetesRules } from './kubernetes.ts'
import { ociRules } from './oci.ts'
import { unreadRule } from './policies/unread.ts'
import type { Cloud, Rule } from './rule.ts'
import { awsTables } from './tables/aws.ts'
import { azureTables } from './tables/azure.ts'
import { gcpTables } from './tables/gcp.ts'
import { kubernetesTables } from './tables/kubernetes.ts'
import { ociTables } from './tables/oci.ts'

/** All rules, sorted by id. */
export const RULES: readonly Rule[] = [
  ...changeRules,
  ...secretRules,
  ...evidenceRules,
  unreadRule,
  ...awsTables,
  ...azureTables,
  ...gcpTables,
  ...kubernetesTables,
  ...ociTables,
  ...awsRules,
  ...azureRules,
  ...gcpRules,
  ...ociRules,
  ...kubernetesRules,
].toSorted((a, b) => (a.id < b.id ? -1 : 1))

/** Lists the rules in columns, one line each: effective severity, id and reason. */
export function listRules(grades: RuleGrades): string {
  const width = Math.max(...RULES.map(({ id }) => id.length))
  const line = ({ id, severity, reason }: Rule) =>
    `${(grades[id] ?? severity).padEnd(8)}  ${id.padEnd(width)}  ${reason}`
  return `${RULES.map(line).join('\n')}\n`
}

const HEADINGS: [Cloud, string][] = [
  ['common', 'Every provider'],
  ['aws', 'AWS'],
  ['azure', 'Azure'],
  ['gcp', 'Google Cloud'],
  ['oci', 'Oracle Cloud'],
  ['kubernetes', 'Kubernetes'],
]

/** Renders the tables of `docs/rules.md`, the operators' reference of rules, behind its introduction. */
export const ruleTables = (): string =>
  HEADINGS.map(
    ([cloud, heading]) => `## ${heading}\n\n${tableOf(RULES.filter(({ id }) => id.startsWith(`${cloud}.`)))}\n`,
  ).join('\n')

const tableOf = (rules: readonly Rule[]) =>
  ['| Rule | Severity | What, and why | What to do |', '|---|---|---|---|', ...rules.map(rowOf)].join('\n')

const rowOf = ({ id, severity, title, reason, fix }: Rule) =>
  `| \`${id}\` | ${severity} | ${title}. ${reason} | ${fix} |`
