import { type Allowance, allowancesIn, allowancesOf } from '../policy-document.ts'
import type { Rule, Subject } from '../rule.ts'
import { blocksOf, jsonAt, textOf, textsOf } from '../view.ts'

/** Policy attribute of each type that gives a policy to an identity. */
const IDENTITY_POLICIES: ReadonlyMap<string, string> = new Map([
  ['aws_iam_policy', 'policy'],
  ['aws_iam_role_policy', 'policy'],
  ['aws_iam_user_policy', 'policy'],
  ['aws_iam_group_policy', 'policy'],
  ['aws_ssoadmin_permission_set_inline_policy', 'inline_policy'],
])
const ATTACHMENTS = [
  'aws_iam_role_policy_attachment',
  'aws_iam_user_policy_attachment',
  'aws_iam_group_policy_attachment',
  'aws_iam_policy_attachment',
  'aws_ssoadmin_managed_policy_attachment',
  'aws_iam_role_policy_attachments_exclusive',
]

/** Returns what the policies of a resource allow an identity. */
function identityAllowances(subject: Subject): Allowance[] {
  if (subject.type === 'aws_iam_role')
    return blocksOf(subject, 'inline_policy').flatMap((block) => allowancesIn(jsonAt(block, 'policy')))
  return allowancesOf(subject, IDENTITY_POLICIES.get(subject.type) ?? 'policy')
}

const coversEverything = ({ resources }: Allowance) => resources.includes('*')
const isAdmin = (allowance: Allowance) =>
  coversEverything(allowance) &&
  allowance.conditions.length === 0 &&
  allowance.actions.some((action) => action === '*' || action === '*:*')
const types = [...IDENTITY_POLICIES.keys(), 'aws_iam_role']

/** Returns the names of attached AWS managed policies, whose ARN has `aws` in place of the account. */
const attachedPolicies = (subject: Subject): string[] =>
  ['policy_arn', 'policy_arns', 'managed_policy_arn', 'managed_policy_arns']
    .flatMap((key) => textsOf(subject, key))
    .flatMap((arn) => /^arn:[^:]*:iam::aws:policy\/(?:.*\/)?([^/]+)$/.exec(arn)?.[1] ?? [])

export const awsPermissionRules: Rule[] = [
  {
    id: 'aws.iam.admin-policy',
    title: 'Policy that allows everything on everything',
    reason: 'Whoever gets hold of the identity owns the account.',
    fix: 'List the actions and resources that the identity needs.',
    severity: 'error',
    cloud: 'aws',
    types,
    check: (subject) =>
      identityAllowances(subject).some(isAdmin) ? ['The policy allows every action on every resource.'] : [],
  },
  {
    id: 'aws.iam.admin-attachment',
    title: 'AdministratorAccess attached',
    reason: 'The managed policy allows every action on every resource.',
    fix: 'Attach a policy with the actions and resources that the identity needs.',
    severity: 'error',
    cloud: 'aws',
    types: [...ATTACHMENTS, 'aws_iam_role'],
    check: (subject) =>
      attachedPolicies(subject).includes('AdministratorAccess')
        ? ['Attaches the managed policy AdministratorAccess.']
        : [],
  },
  {
    id: 'aws.iam.broad-attachment',
    title: 'Very broad managed policy attached',
    reason: 'PowerUserAccess and IAMFullAccess lead to administration of the account in one step.',
    fix: 'Attach a policy with the actions and resources that the identity needs.',
    severity: 'warning',
    cloud: 'aws',
    types: [...ATTACHMENTS, 'aws_iam_role'],
    check: (subject) =>
      ['PowerUserAccess', 'IAMFullAccess']
        .filter((name) => attachedPolicies(subject).includes(name))
        .map((name) => `Attaches the managed policy ${name}.`),
  },
  {
    id: 'aws.iam.service-wildcard',
    title: 'All actions of a service on all resources',
    reason: 'The permission covers everything of the service, also what is created later.',
    fix: 'List the actions, or name the resources.',
    severity: 'warning',
    cloud: 'aws',
    types,
    check: (subject) =>
      identityAllowances(subject).some(
        (allowance) =>
          coversEverything(allowance) &&
          !isAdmin(allowance) &&
          allowance.actions.some((action) => action === '*' || /^[a-z0-9-]+:\*$/i.test(action)),
      )
        ? ['The policy allows every action of a service on every resource.']
        : [],
  },
  {
    id: 'aws.iam.not-action',
    title: 'Everything allowed but a list',
    reason: 'NotAction with Allow grants all other actions, also those of services that come later.',
    fix: 'List the actions that are needed in Action.',
    severity: 'warning',
    cloud: 'aws',
    types,
    check: (subject) =>
      identityAllowances(subject).some((allowance) => allowance.notActions.length > 0 && coversEverything(allowance))
        ? ['The policy allows every action on every resource except a list.']
        : [],
  },
  {
    id: 'aws.iam.access-key',
    title: 'Long-lived access key',
    reason: 'The key never expires, and its secret stands in the state of the engine.',
    fix: 'Let workloads assume a role; people sign in through the identity provider.',
    severity: 'warning',
    cloud: 'aws',
    types: ['aws_iam_access_key'],
    check: (subject) =>
      textOf(subject, 'status') === 'Inactive' ? [] : ['Creates an access key that does not expire.'],
  },
]
