import type { RuleGrades } from '../../config/types.ts'
import { awsRules } from './aws.ts'
import { azureRules } from './azure.ts'
import { changeRules } from './common/change-rules.ts'
import { secretRules } from './common/secrets.ts'
import { encryptionRules } from './encryption.ts'
import { gcpRules } from './gcp.ts'
import { kubernetesRules } from './kubernetes.ts'
import { ociRules } from './oci.ts'
import type { Cloud, Rule } from './rule.ts'

/** All rules, sorted by id. */
export const RULES: readonly Rule[] = [
  ...changeRules,
  ...secretRules,
  ...encryptionRules,
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

/** Renders `docs/rules.md`, the operators' reference of rules. */
export function rulesPage(): string {
  const sections = HEADINGS.map(
    ([cloud, heading]) => `## ${heading}\n\n${tableOf(RULES.filter(({ id }) => id.startsWith(`${cloud}.`)))}`,
  )
  return `${[INTRODUCTION, ...sections].join('\n\n')}\n`
}

const tableOf = (rules: readonly Rule[]) =>
  ['| Rule | Severity | What, and why | What to do |', '|---|---|---|---|', ...rules.map(rowOf)].join('\n')

const rowOf = ({ id, severity, title, reason, fix }: Rule) =>
  `| \`${id}\` | ${severity} | ${title}. ${reason} | ${fix} |`

const INTRODUCTION = [
  '# Rules',
  '',
  'With `orchestration.enable_compliance_checker` on, code checks the plan of every generate round against ' +
    'these rules, beside the audit of the model. The findings of both are stored in one compliance check; ' +
    '`error` and `critical` lock the session. [configuration.md](configuration.md#orchestration) says how to ' +
    'grade rules anew or switch them off.',
  '',
  '- A rule looks at what the plan creates, updates or replaces, and at deletions where it says so. What an ' +
    'update leaves as bad as it was is no finding.',
  '- What is known only after the apply is never guessed.',
  '- A finding names the resource, the attribute and the cause, never a value.',
  '- `kubernetes_manifest` and `kubectl_manifest` are read like the typed resources.',
  '- Resources that their provider always encrypts (among them all storage of Google Cloud and Oracle Cloud)' +
    ' have no rule about encryption.',
  '- A secret is found in the code when it is spelled out as the whole value of an argument, or has a form ' +
    'by which it is known. A list or map that mixes literals with references is judged by its planned values.',
  '',
  'This page is written from the table in `src/rules/`; `npx vitest run test/rules -u` writes it anew.',
].join('\n')
