import type { Rule, Subject } from '../rule.ts'
import { blocksOf, textOf, textsOf } from '../view.ts'

/** Built-in roles by name and id; the id is the same in every tenant. */
const ROLES = {
  owner: { name: 'Owner', id: '8e3af657-a8ff-443c-a75c-2fe8c4bcb635' },
  userAccess: { name: 'User Access Administrator', id: '18d7d88d-d35e-4fb5-a5c3-7773c20a72d9' },
  contributor: { name: 'Contributor', id: 'b24988ac-6180-42a0-ab88-20f7382dd24c' },
}
type Role = keyof typeof ROLES

/** Returns the assigned built-in role's name; null for any other role. */
function roleOf(subject: Subject): string | null {
  const name = textOf(subject, 'role_definition_name')?.toLowerCase()
  const id = textOf(subject, 'role_definition_id')?.toLowerCase()
  const role = Object.values(ROLES).find((role) => role.name.toLowerCase() === name || id?.endsWith(role.id))
  return role?.name ?? null
}
const isOneOf = (subject: Subject, ...roles: Role[]) => roles.some((role) => ROLES[role].name === roleOf(subject))

const BROAD_SCOPE = /^(\/|\/subscriptions\/[^/]+\/?|\/providers\/microsoft\.management\/managementgroups\/[^/]+\/?)$/i
const isBroad = (scope: string) => BROAD_SCOPE.test(scope)
const scopeOf = (subject: Subject) => textOf(subject, 'scope') ?? ''

export const azurePermissionRules: Rule[] = [
  {
    id: 'azure.iam.broad-owner',
    title: 'Owner of a subscription or more',
    reason: 'The identity can do everything and give every permission to others.',
    fix: 'Grant a role with the actions that are needed, on a resource group or a resource.',
    severity: 'error',
    types: ['azurerm_role_assignment', 'azurerm_management_group_role_assignment'],
    check: (subject) =>
      isOneOf(subject, 'owner', 'userAccess') && isBroad(scopeOf(subject))
        ? [`Assigns ${roleOf(subject)} on a subscription, a management group or the root.`]
        : [],
  },
  {
    id: 'azure.iam.narrow-owner',
    title: 'Owner of a resource group or a resource',
    reason: 'The identity can also give permissions to others, which a workload seldom needs.',
    fix: 'Grant a role with the actions that are needed.',
    severity: 'warning',
    types: ['azurerm_role_assignment'],
    check: (subject) =>
      isOneOf(subject, 'owner', 'userAccess') && scopeOf(subject) !== '' && !isBroad(scopeOf(subject))
        ? [`Assigns ${roleOf(subject)} below a subscription.`]
        : [],
  },
  {
    id: 'azure.iam.broad-contributor',
    title: 'Contributor of a subscription or more',
    reason: 'The identity can change and delete every resource of the subscription.',
    fix: 'Grant the role on the resource groups that need it, or a narrower role.',
    severity: 'warning',
    types: ['azurerm_role_assignment'],
    message: 'Assigns Contributor on a subscription, a management group or the root.',
    isBrokenBy: (subject) => isOneOf(subject, 'contributor') && isBroad(scopeOf(subject)),
  },
  {
    id: 'azure.iam.wildcard-role',
    title: 'Role with every action',
    reason: 'The role is an owner by another name.',
    fix: 'List the actions that the role is for.',
    severity: 'error',
    types: ['azurerm_role_definition'],
    message: 'The role allows every action.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'permissions').some(
        (block) => textsOf(block, 'actions').includes('*') && textsOf(block, 'not_actions').length === 0,
      ),
  },
  {
    id: 'azure.iam.wildcard-role-with-exceptions',
    title: 'Role with every action but a list, or with all data actions',
    reason: 'Actions that come later are allowed too.',
    fix: 'List the actions that the role is for.',
    severity: 'warning',
    types: ['azurerm_role_definition'],
    message: 'The role allows all actions except a list, or all data actions.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'permissions').some(
        (block) =>
          (textsOf(block, 'actions').includes('*') && textsOf(block, 'not_actions').length > 0) ||
          textsOf(block, 'data_actions').includes('*'),
      ),
  },
]
