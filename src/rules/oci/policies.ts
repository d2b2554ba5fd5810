import type { Rule, Subject } from '../rule.ts'
import { textsOf } from '../view.ts'

/** Returns the policy statements in lower case with single blanks; their language ignores letter case. */
const statements = (subject: Subject): string[] =>
  textsOf(subject, 'statements').map((statement) =>
    statement.slice(0, 5_000).toLowerCase().replaceAll(/\s+/g, ' ').trim(),
  )

/** What a condition compares that says who asks or from where; a pattern for everything says nothing. */
const WHO =
  /\brequest\.(principal\.[\w.]+|user\.[\w.]+|groups?\.[\w.]+|networksource\.name|instance\.[\w.]+)\s*(?:=|in\b)\s*(?!\s*('\*'|\/\*\/|'\/\*\/'))/

/** Reports whether a condition narrows who asks: one of its comparisons has to, each of them after `any`. */
function narrowsWho(statement: string): boolean {
  const [, condition = ''] = / where (.*)$/.exec(statement) ?? []
  const [, inner = ''] = /^any\s*\{(.*)\}$/.exec(condition) ?? []
  return inner === '' ? WHO.test(condition) : inner.split(',').every((one) => WHO.test(one))
}

const isConditional = (statement: string) => / where /.test(statement)
const namesAnyone = (statement: string) => /^(allow|endorse|admit) (any-user|any-group)\b/.test(statement)
const managesAll = (statement: string, where: 'tenancy' | 'compartment') =>
  !namesAnyone(statement) &&
  !isConditional(statement) &&
  / to manage all-resources in (\w+)/.exec(statement)?.[1] === where

/** What statements of policies allow. */
export const ociPolicyRules: Rule[] = [
  {
    id: 'oci.iam.any-user',
    title: 'Policy for any user',
    reason: 'Every user and every resource, also of other tenancies where they are admitted, gets the permission.',
    fix: 'Name a group or a dynamic group, or add a condition on who asks.',
    severity: 'critical',
    types: ['oci_identity_policy'],
    message: 'A statement allows any user, without a condition that narrows who.',
    isBrokenBy: (subject) => statements(subject).some((statement) => namesAnyone(statement) && !narrowsWho(statement)),
  },
  {
    id: 'oci.iam.manage-all-in-tenancy',
    title: 'Everything in the tenancy',
    reason: 'The group administers the whole tenancy, permissions included.',
    fix: 'Name the resource families and the compartments that are needed.',
    severity: 'error',
    types: ['oci_identity_policy'],
    message: 'A statement allows to manage all resources in the tenancy.',
    isBrokenBy: (subject) => statements(subject).some((statement) => managesAll(statement, 'tenancy')),
  },
  {
    id: 'oci.iam.escalation',
    title: 'Management of policies or identities of the tenancy',
    reason: 'Whoever manages policies, groups or users of the tenancy is its administrator in one step.',
    fix: 'Name the compartment, or let a condition leave out the group of administrators.',
    severity: 'warning',
    types: ['oci_identity_policy'],
    message: 'A statement allows to manage policies, groups, users or domains in the tenancy.',
    isBrokenBy: (subject) =>
      statements(subject).some(
        (statement) =>
          !namesAnyone(statement) &&
          !isConditional(statement) &&
          / to manage (policies|groups|dynamic-groups|users|domains|identity-providers) in tenancy$/.test(statement),
      ),
  },
  {
    id: 'oci.iam.manage-all-in-compartment',
    title: 'Everything in a compartment',
    reason: 'The group can change and delete all that the compartment holds.',
    fix: 'Name the resource families that are needed.',
    severity: 'warning',
    types: ['oci_identity_policy'],
    message: 'A statement allows to manage all resources in a compartment.',
    isBrokenBy: (subject) => statements(subject).some((statement) => managesAll(statement, 'compartment')),
  },
]
