import { audiencesOf, EVERY_PORT, isOpen, networkRules, type Opening, protocolOf } from './network.ts'
import type { Rule, Subject, View } from './rule.ts'
import { blocksOf, hasValue, isUnknown, numberOf, textOf, textsOf } from './view.ts'

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

const LISTS = ['oci_core_security_list', 'oci_core_default_security_list']

export const ociRules: Rule[] = [
  ...networkRules('oci', [...LISTS, 'oci_core_network_security_group_security_rule'], openings),
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
  {
    id: 'oci.storage.public-bucket',
    title: 'Bucket that anyone can read',
    reason: 'Every object in it can be read by everyone on the internet.',
    fix: 'Set access_type to NoPublicAccess; hand out single objects with pre-authenticated requests that expire.',
    severity: 'error',
    types: ['oci_objectstorage_bucket'],
    check: (subject) =>
      ['ObjectRead', 'ObjectReadWithoutList']
        .filter((access) => textOf(subject, 'access_type') === access)
        .map((access) => `access_type is ${access}.`),
  },
  {
    id: 'oci.storage.broad-preauthenticated-request',
    title: 'Link to all objects of a bucket',
    reason: 'Whoever has the link reads or writes every object until it expires.',
    fix: 'Make the request for one object, for reading, and for a short time.',
    severity: 'warning',
    types: ['oci_objectstorage_preauthrequest'],
    message: 'The request covers every object of the bucket.',
    isBrokenBy: (subject) => textOf(subject, 'access_type')?.startsWith('AnyObject') === true,
  },
  {
    id: 'oci.database.open-access-list',
    title: 'Autonomous database open to the internet',
    reason: 'Anyone can try logins against the database.',
    fix: 'Name the networks in the access list, or use a private endpoint.',
    severity: 'error',
    types: ['oci_database_autonomous_database'],
    message: 'The access list admits every address.',
    isBrokenBy: (subject) => isOpen(subject, 'whitelisted_ips'),
  },
  {
    id: 'oci.network.public-cluster-endpoint',
    title: 'Kubernetes API with a public address',
    reason: 'Where the security lists allow it, anyone can reach the API of the cluster.',
    fix: 'Set is_public_ip_enabled to false, or narrow the security lists of its subnet.',
    severity: 'warning',
    types: ['oci_containerengine_cluster'],
    message: 'is_public_ip_enabled is true.',
    isBrokenBy: (subject) => hasValue(subject, 'endpoint_config.is_public_ip_enabled', true),
  },
  {
    id: 'oci.iam.long-lived-key',
    title: 'Long-lived key of a user',
    reason: 'The key never expires, and what belongs to it stands in the state of the engine.',
    fix: 'Use instance or resource principals.',
    severity: 'warning',
    types: ['oci_identity_customer_secret_key', 'oci_identity_auth_token'],
    message: 'Creates a key that does not expire.',
    isBrokenBy: () => true,
  },
]

function openings(subject: Subject): Opening[] {
  if (LISTS.includes(subject.type)) return blocksOf(subject, 'ingress_security_rules').flatMap(openingsOf)
  return textOf(subject, 'direction')?.toUpperCase() === 'INGRESS' ? openingsOf(subject) : []
}

function openingsOf(rule: View): Opening[] {
  const protocol = protocolOf(textOf(rule, 'protocol'))
  const ports = protocol === 'tcp' || protocol === 'udp' ? portsOf(rule, `${protocol}_options`) : [EVERY_PORT]
  return audiencesOf(textsOf(rule, 'source')).flatMap((audience) =>
    ports.map((range) => ({ audience, protocol, ...range })),
  )
}

/** Returns the destination ports of a rule, which are every port without options, for either resource type. */
function portsOf(rule: View, key: string): { from: number; to: number }[] {
  if (isUnknown(rule, key)) return []
  const options = blocksOf(rule, key)
  if (options.length === 0) return [EVERY_PORT]
  return options.flatMap((option) => {
    const destinationRanges = blocksOf(option, 'destination_port_range')
    return (destinationRanges.length > 0 ? destinationRanges : [option]).map((range) => ({
      from: numberOf(range, 'min') ?? EVERY_PORT.from,
      to: numberOf(range, 'max') ?? EVERY_PORT.to,
    }))
  })
}
