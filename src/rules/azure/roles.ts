import { type Audience, expressionAudience, subjectAudience } from '../policies/tokens.ts'
import type { Rule, Subject } from '../rule.ts'
import { blocksOf, isAbsent, textOf, textsOf } from '../view.ts'

/** Built-in roles by name and id; the id is the same in every tenant. */
const ROLES = {
  owner: { name: 'Owner', id: '8e3af657-a8ff-443c-a75c-2fe8c4bcb635' },
  userAccess: { name: 'User Access Administrator', id: '18d7d88d-d35e-4fb5-a5c3-7773c20a72d9' },
  accessControl: { name: 'Role Based Access Control Administrator', id: 'f58310d9-a9f6-439a-9e8d-f62e7b41a168' },
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

/** Reports whether a role lets its holder give every role; a condition can limit those that may be given. */
const givesRoles = (subject: Subject) =>
  isOneOf(subject, 'owner', 'userAccess', 'accessControl') && isAbsent(subject, 'condition')

/** Roles of the directory that lead to every other, by the id that is the same in every tenant. */
const DIRECTORY_ADMINS: Record<string, string> = {
  '62e90394-69f5-4237-9190-012177145e10': 'Global Administrator',
  'e8611ab8-c189-46e8-94e1-60213ab1f814': 'Privileged Role Administrator',
  '7be44c8a-adaf-4e2a-84d6-ab2649e08a13': 'Privileged Authentication Administrator',
}

/** Actions that give roles. */
const GIVES_ROLES =
  /^(\*\/write|microsoft\.authorization\/(\*|\*\/(\*|write)|(roleassignments|roledefinitions)\/(\*|write)|elevateaccess\/action))$/i

const CREDENTIALS = [
  'azurerm_federated_identity_credential',
  'azuread_application_federated_identity_credential',
  'azuread_application_flexible_federated_identity_credential',
]

/** Returns whose tokens a credential admits; null for issuers of one customer, and when it is unknown. */
function credentialAudience(subject: Subject): Audience | null {
  const issuer = textOf(subject, 'issuer') ?? ''
  const expression = textOf(subject, 'claims_matching_expression')
  if (expression !== null) return expressionAudience(issuer, expression)
  const value = textOf(subject, 'subject')
  const audience = value === null ? null : subjectAudience(issuer, value)
  // A subject is compared as it is, so that a pattern fits no token.
  return audience === 'everyone' && /[*?]/.test(value ?? '') ? 'nobody' : audience
}

const BROAD_SCOPE = /^(\/|\/subscriptions\/[^/]+\/?|\/providers\/microsoft\.management\/managementgroups\/[^/]+\/?)$/i
const isBroad = (scope: string) => BROAD_SCOPE.test(scope)
const scopeOf = (subject: Subject) => textOf(subject, 'scope') ?? ''

/** Who gets which role, and whose tokens are trusted. */
export const azureRoleRules: Rule[] = [
  {
    id: 'azure.iam.broad-owner',
    title: 'Owner of a subscription or more',
    reason: 'The identity can do everything and give every permission to others.',
    fix: 'Grant a role with the actions that are needed, on a resource group or a resource.',
    severity: 'error',
    types: ['azurerm_role_assignment', 'azurerm_management_group_role_assignment'],
    check: (subject) =>
      givesRoles(subject) && isBroad(scopeOf(subject))
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
      givesRoles(subject) && scopeOf(subject) !== '' && !isBroad(scopeOf(subject))
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
    id: 'azure.iam.escalation-role',
    title: 'Custom role that gives roles',
    reason: 'Whoever may assign or define roles is an owner in one step.',
    fix: 'Leave the actions of Microsoft.Authorization out, or assign the built-in role with a condition.',
    severity: 'warning',
    types: ['azurerm_role_definition'],
    message: 'The role may assign or define roles.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'permissions').some(
        (block) =>
          textsOf(block, 'actions').some((action) => GIVES_ROLES.test(action)) &&
          !textsOf(block, 'not_actions').some((action) => GIVES_ROLES.test(action)),
      ),
  },
  {
    id: 'azure.iam.directory-admin',
    title: 'Administrator of the directory',
    reason: 'The identity can give itself every role of the directory and of every subscription.',
    fix: 'Assign the role of the directory that is needed.',
    severity: 'error',
    types: ['azuread_directory_role_assignment', 'azuread_directory_role_eligibility_schedule_request'],
    check: (subject) => {
      const name =
        DIRECTORY_ADMINS[(textOf(subject, 'role_id') ?? textOf(subject, 'role_definition_id') ?? '').toLowerCase()]
      return name === undefined ? [] : [`Assigns ${name}.`]
    },
  },
  {
    id: 'azure.iam.open-token-trust',
    title: 'Credential for the tokens of every customer of an issuer',
    reason: 'GitHub, GitLab and others sign tokens for everyone: anyone can sign in as the application or identity.',
    fix: 'Name the owner and the repository in the subject.',
    severity: 'error',
    types: CREDENTIALS,
    message: 'The credential admits tokens of every customer of the issuer.',
    isBrokenBy: (subject) => credentialAudience(subject) === 'everyone',
  },
  {
    id: 'azure.iam.wide-token-trust',
    title: 'Credential for all tokens of a customer, or for a pattern that fits nothing',
    reason:
      'Every repository of the organization can sign in; a pattern in a subject that is compared literally fits none.',
    fix: 'Name the repository in the subject; patterns work in flexible credentials only.',
    severity: 'warning',
    types: CREDENTIALS,
    check: (subject) => {
      const audience = credentialAudience(subject)
      if (audience === 'customer') return ['The credential admits every token of an organization.']
      return audience === 'nobody' ? ['The subject is a pattern, which is compared literally.'] : []
    },
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
