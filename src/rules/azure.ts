import { audiencesOf, networkRules, type Opening, openTo, portRanges, protocolOf } from './network.ts'
import { type Audience, expressionAudience, subjectAudience } from './policies/tokens.ts'
import type { Rule, Subject, View } from './rule.ts'
import { blocksAt, blocksOf, isAbsent, textOf, textsOf } from './view.ts'

const FIREWALL_RULES = [
  'azurerm_mssql_firewall_rule',
  'azurerm_sql_firewall_rule',
  'azurerm_mssql_managed_instance_firewall_rule',
  'azurerm_postgresql_firewall_rule',
  'azurerm_postgresql_flexible_server_firewall_rule',
  'azurerm_mysql_firewall_rule',
  'azurerm_mysql_flexible_server_firewall_rule',
  'azurerm_mariadb_firewall_rule',
  'azurerm_redis_firewall_rule',
  'azurerm_synapse_firewall_rule',
  'azurerm_cosmosdb_postgresql_firewall_rule',
  'azurerm_mongo_cluster_firewall_rule',
]
/** Addresses in the largest private network, 10.0.0.0/8; larger ranges include public ones. */
const LARGEST_PRIVATE = 2 ** 24
const lastAddress = (subject: Subject) => textOf(subject, 'end_ip_address') ?? textOf(subject, 'end_ip') ?? ''

/** Counts the addresses of an IPv4 range; 0 when it is invalid. */
function addressCount(subject: Subject): number {
  const first = ipv4(textOf(subject, 'start_ip_address') ?? textOf(subject, 'start_ip') ?? '')
  const last = ipv4(lastAddress(subject))
  return first === null || last === null || last < first ? 0 : last - first + 1
}

function ipv4(text: string): number | null {
  const parts = text.trim().split('.')
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return null
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0)
}

/** Firewall block of each type; empty where the resource itself is the firewall. */
const ACCESS_LISTS: ReadonlyMap<string, string> = new Map([
  ['azurerm_storage_account', 'network_rules'],
  ['azurerm_storage_account_network_rules', ''],
  ['azurerm_key_vault', 'network_acls'],
  ['azurerm_cognitive_account', 'network_acls'],
  ['azurerm_container_registry', 'network_rule_set'],
  ['azurerm_eventhub_namespace', 'network_rulesets'],
  ['azurerm_servicebus_namespace', 'network_rule_set'],
])

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

export const azureRules: Rule[] = [
  ...networkRules('azure', ['azurerm_network_security_group', 'azurerm_network_security_rule'], openings),
  {
    id: 'azure.storage.public-container',
    title: 'Container that anyone can read',
    reason: 'Every blob in it can be read by everyone on the internet.',
    fix: 'Set the access type to private; hand out access by role or signed address.',
    severity: 'error',
    types: ['azurerm_storage_container'],
    check: (subject) => {
      const access = ['blob', 'container'].find((name) => textOf(subject, 'container_access_type') === name)
      return access ? [`container_access_type is ${access}.`] : []
    },
  },
  {
    id: 'azure.network.open-service-firewall',
    title: 'Firewall of a service admits every network',
    reason: 'The service can be reached from the internet; only its keys and roles are left between.',
    fix: 'Set the default action to Deny and name the networks, or use a private endpoint.',
    severity: 'warning',
    types: [...ACCESS_LISTS.keys()],
    message: 'The default action is Allow.',
    isBrokenBy: (subject) =>
      blocksAt(subject, ACCESS_LISTS.get(subject.type) ?? '').some(
        (list) => textOf(list, 'default_action')?.toLowerCase() === 'allow',
      ),
  },
  {
    id: 'azure.database.open-firewall',
    title: 'Database firewall open to the internet',
    reason: 'Anyone can try logins against the server.',
    fix: 'Name the addresses that need it, or use a private endpoint.',
    severity: 'error',
    types: FIREWALL_RULES,
    message: 'The range of addresses is larger than any private network, and so includes public ones.',
    isBrokenBy: (subject) => addressCount(subject) > LARGEST_PRIVATE,
  },
  {
    id: 'azure.database.azure-services-allowed',
    title: 'Database firewall admits all of Azure',
    reason: 'The range 0.0.0.0 to 0.0.0.0 admits resources of every customer of Azure, not only yours.',
    fix: 'Use a private endpoint or a rule for a virtual network.',
    severity: 'warning',
    types: FIREWALL_RULES,
    message: 'The rule admits every resource in Azure, also of other customers.',
    isBrokenBy: (subject) => lastAddress(subject) === '0.0.0.0' && addressCount(subject) === 1,
  },
  {
    id: 'azure.database.open-account',
    title: 'Cosmos DB account open to the internet',
    reason: 'Anyone can try keys against the account.',
    fix: 'Name addresses or virtual networks, or switch public network access off.',
    severity: 'error',
    types: ['azurerm_cosmosdb_account'],
    message: 'The address filter admits every address.',
    isBrokenBy: (subject) => {
      const ranges = textsOf(subject, 'ip_range_filter').flatMap((text) => text.split(','))
      return ranges.some((range) => range.includes('/') && openTo(range) !== null)
    },
  },
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

function openings(subject: Subject): Opening[] {
  const isGroup = subject.type === 'azurerm_network_security_group'
  return isGroup ? blocksOf(subject, 'security_rule').flatMap(openingsOf) : openingsOf(subject)
}

function openingsOf(rule: View): Opening[] {
  const is = (key: string, value: string) => textOf(rule, key)?.toLowerCase() === value
  if (!is('direction', 'inbound') || !is('access', 'allow')) return []
  const protocol = protocolOf(textOf(rule, 'protocol'))
  const sources = audiencesOf([...textsOf(rule, 'source_address_prefix'), ...textsOf(rule, 'source_address_prefixes')])
  const ports = portRanges([...textsOf(rule, 'destination_port_range'), ...textsOf(rule, 'destination_port_ranges')])
  // A rule for any protocol may name ports. It counts as TCP, since `all` would mean every port.
  const protocolFor = (range: { from: number; to: number }) =>
    protocol === 'all' && range.to - range.from < 65_000 ? 'tcp' : protocol
  return sources.flatMap((audience) => ports.map((range) => ({ audience, protocol: protocolFor(range), ...range })))
}
