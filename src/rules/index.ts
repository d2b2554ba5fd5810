import type { RuleGrades } from '../../config/types.ts'
import { awsAccessTable } from './aws/access-table.ts'
import { awsDataTable } from './aws/data-table.ts'
import { awsExposureTable } from './aws/exposure-table.ts'
import { awsIdentityRules } from './aws/identity-policies.ts'
import { awsNetworkRules } from './aws/network.ts'
import { awsRecordsTable } from './aws/records-table.ts'
import { awsResourcePolicyRules } from './aws/resource-policies.ts'
import { azureAccessTable } from './azure/access-table.ts'
import { azureDataTable } from './azure/data-table.ts'
import { azureExposureTable } from './azure/exposure-table.ts'
import { azureNetworkRules } from './azure/network.ts'
import { azureRecordsTable } from './azure/records-table.ts'
import { azureRoleRules } from './azure/roles.ts'
import { changeRules } from './common/change-rules.ts'
import { secretRules } from './common/secrets.ts'
import { evidenceRules } from './evidence.ts'
import { gcpDataTable } from './gcp/data-table.ts'
import { gcpExposureTable } from './gcp/exposure-table.ts'
import { gcpNetworkRules } from './gcp/network.ts'
import { gcpRecordsTable } from './gcp/records-table.ts'
import { gcpRoleRules } from './gcp/roles.ts'
import { hostPathRules } from './kubernetes/host-paths.ts'
import { kubernetesNetworkRules } from './kubernetes/network.ts'
import { kubernetesRoleRules } from './kubernetes/roles.ts'
import { kubernetesTable } from './kubernetes/table.ts'
import { ociNetworkRules } from './oci/network.ts'
import { ociPolicyRules } from './oci/policies.ts'
import { ociTable } from './oci/table.ts'
import { unreadRule } from './policies/unread.ts'
import type { Cloud, Rule } from './rule.ts'

/** All rules, sorted by id. */
export const RULES: readonly Rule[] = [
  ...awsAccessTable,
  ...awsDataTable,
  ...awsExposureTable,
  ...awsIdentityRules,
  ...awsNetworkRules,
  ...awsRecordsTable,
  ...awsResourcePolicyRules,
  ...azureAccessTable,
  ...azureDataTable,
  ...azureExposureTable,
  ...azureNetworkRules,
  ...azureRecordsTable,
  ...azureRoleRules,
  ...changeRules,
  ...secretRules,
  ...evidenceRules,
  ...gcpDataTable,
  ...gcpExposureTable,
  ...gcpNetworkRules,
  ...gcpRecordsTable,
  ...gcpRoleRules,
  ...hostPathRules,
  ...kubernetesNetworkRules,
  ...kubernetesRoleRules,
  ...kubernetesTable,
  ...ociNetworkRules,
  ...ociPolicyRules,
  ...ociTable,
  unreadRule,
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
