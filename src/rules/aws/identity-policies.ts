import { joinNames } from '../../base/text.ts'
import { type Statement, statementsIn } from '../policies/document.ts'
import { governsIam, grantsIn, isAdmin, stepsIn } from '../policies/identity.ts'
import { coversEverything, isEverything } from '../policies/patterns.ts'
import type { Rule, Subject } from '../rule.ts'
import { blocksOf, jsonAt } from '../view.ts'

/** Policy attribute of each type that gives a policy to an identity. */
const IDENTITY_POLICIES: ReadonlyMap<string, string> = new Map([
  ['aws_iam_policy', 'policy'],
  ['aws_iam_role_policy', 'policy'],
  ['aws_iam_user_policy', 'policy'],
  ['aws_iam_group_policy', 'policy'],
  ['aws_ssoadmin_permission_set_inline_policy', 'inline_policy'],
])
const types = [...IDENTITY_POLICIES.keys(), 'aws_iam_role']

/** Returns the statements of each policy that a resource gives an identity. */
function identityPolicies(subject: Subject): Statement[][] {
  const holders = subject.type === 'aws_iam_role' ? blocksOf(subject, 'inline_policy') : [subject]
  return holders.map((holder) => statementsIn(jsonAt(holder, IDENTITY_POLICIES.get(subject.type) ?? 'policy')))
}

/** What policies let users, groups and roles do. */
export const awsIdentityRules: Rule[] = [
  {
    id: 'aws.iam.admin-policy',
    title: 'Policy that allows everything on everything',
    reason: 'Whoever gets hold of the identity owns the account.',
    fix: 'List the actions and resources that the identity needs.',
    severity: 'error',
    types,
    message: 'The policy allows every action on every resource.',
    isBrokenBy: (subject) => identityPolicies(subject).some(isAdmin),
  },
  {
    id: 'aws.iam.full-iam',
    title: 'Full access to IAM',
    reason: 'Whoever may change the policies, keys and passwords of every identity owns the account in one step.',
    fix: 'Name the actions and the users, roles or policies, or let a condition ask for a permissions boundary.',
    severity: 'error',
    types,
    message: 'The policy allows to give every permission and credential to every identity.',
    isBrokenBy: (subject) => identityPolicies(subject).some((one) => !isAdmin(one) && governsIam(one)),
  },
  {
    id: 'aws.iam.escalation',
    title: 'Administration in one step',
    reason:
      'The action gives the identity more permissions, or those of every other identity: ' +
      'a policy, a key, a role, or a machine or function with a role.',
    fix: 'Name the identities that are meant, or let a condition ask for a permissions boundary or for the service.',
    severity: 'warning',
    types,
    check: (subject) =>
      identityPolicies(subject)
        .filter((statements) => !isAdmin(statements) && !governsIam(statements))
        .map((statements) => [...grantsIn(statements), ...stepsIn(statements)])
        .filter((actions) => actions.length > 0)
        .map((actions) => `The policy allows ${joinNames(actions, 4)} on everything.`),
  },
  {
    id: 'aws.iam.service-wildcard',
    title: 'All actions of a service on all resources, or every action',
    reason: 'The permission covers everything of the service, also what is created later, or deleting and opening.',
    fix: 'List the actions, or name the resources of a service.',
    severity: 'warning',
    types,
    check: (subject) => {
      const policies = identityPolicies(subject).filter((statements) => !isAdmin(statements))
      const allows = (test: (statement: Statement, statements: readonly Statement[]) => boolean) =>
        policies.some((statements) => statements.some((each) => each.allows && test(each, statements)))
      const isWide = allows(
        (statement, statements) =>
          coversEverything(statement) &&
          statement.actions.some((action) => isEverything(action) || isWholeService(action, statements)),
      )
      const isEvery = allows((statement) => !coversEverything(statement) && statement.actions.some(isEverything))
      return [
        ...(isWide ? ['The policy allows every action of a service on every resource.'] : []),
        ...(isEvery ? ['The policy allows every action on a resource.'] : []),
      ]
    },
  },
  {
    id: 'aws.iam.not-action',
    title: 'Everything allowed but a list',
    reason: 'NotAction with Allow grants all other actions, also those of services that come later.',
    fix: 'List the actions that are needed in Action.',
    severity: 'warning',
    types,
    message: 'The policy allows every action on every resource except a list.',
    isBrokenBy: (subject) =>
      identityPolicies(subject)
        .flat()
        .some(
          ({ allows, actions, notActions, resources, notResources }) =>
            allows &&
            ((notActions.length > 0 && (coversEverything({ resources }) || notResources.length > 0)) ||
              (notResources.length > 0 && actions.some(isEverything))),
        ),
  },
]

/** Reports whether an action is all of a service, unless the policy is reported for all of IAM. */
const isWholeService = (action: string, statements: readonly Statement[]): boolean =>
  /^[a-z0-9*-]+:\*+$/.test(action) && !(action === 'iam:*' && governsIam(statements))
