import { joinNames } from '../base/text.ts'
import { audiencesOf, describeOpening, EVERY_PORT, networkRules, type Opening, protocolOf } from './network.ts'
import { type Statement, statementsIn } from './policies/document.ts'
import { governsIam, grantsIn, isAdmin, stepsIn } from './policies/identity.ts'
import { coversEverything, isEverything } from './policies/patterns.ts'
import { allowsAnyone } from './policies/public.ts'
import { tokenAudience } from './policies/tokens.ts'
import type { Rule, Subject, View } from './rule.ts'
import {
  blocksAt,
  blocksOf,
  flagOf,
  flagsAre,
  hasValue,
  isAbsent,
  isUnknown,
  jsonAt,
  numberOf,
  textOf,
  textsOf,
} from './view.ts'

const PUBLIC_ACLS = ['public-read', 'public-read-write', 'authenticated-read']
const EVERYONE = /\/groups\/global\/(AllUsers|AuthenticatedUsers)$/

/** Types of security groups, whose inline blocks are rules. */
const GROUPS = ['aws_security_group', 'aws_default_security_group']
/** Types with openings: security groups, both resource types of their rules, and Lightsail. */
const OPENING_TYPES = [
  ...GROUPS,
  'aws_security_group_rule',
  'aws_vpc_security_group_ingress_rule',
  'aws_lightsail_instance_public_ports',
]

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

/** Returns the statements of each policy that a resource gives an identity. */
function identityPolicies(subject: Subject): Statement[][] {
  const holders = subject.type === 'aws_iam_role' ? blocksOf(subject, 'inline_policy') : [subject]
  return holders.map((holder) => statementsIn(jsonAt(holder, IDENTITY_POLICIES.get(subject.type) ?? 'policy')))
}

/** Returns the statements of a policy of a resource, which says who may use it. */
const resourcePolicy = (subject: Subject, key: string): Statement[] => statementsIn(jsonAt(subject, key))

const types = [...IDENTITY_POLICIES.keys(), 'aws_iam_role']

/** Returns the names of attached AWS managed policies, whose ARN has `aws` in place of the account. */
const attachedPolicies = (subject: Subject): string[] =>
  ['policy_arn', 'policy_arns', 'managed_policy_arn', 'managed_policy_arns']
    .flatMap((key) => textsOf(subject, key))
    .flatMap((arn) => /^arn:[^:]*:iam::aws:policy\/(?:.*\/)?([^/]+)$/.exec(arn)?.[1] ?? [])

/** Types with a policy that states who may use the resource. */
const RESOURCE_POLICIES = [
  'aws_sqs_queue',
  'aws_sqs_queue_policy',
  'aws_sns_topic',
  'aws_sns_topic_policy',
  'aws_kms_key',
  'aws_kms_key_policy',
  'aws_kms_external_key',
  'aws_kms_replica_key',
  'aws_ecr_repository_policy',
  'aws_secretsmanager_secret',
  'aws_secretsmanager_secret_policy',
  'aws_efs_file_system_policy',
  'aws_backup_vault_policy',
  'aws_glacier_vault',
  'aws_cloudwatch_event_bus_policy',
  'aws_dynamodb_resource_policy',
  'aws_kinesis_resource_policy',
  'aws_s3_access_point',
  'aws_s3control_access_point_policy',
  'aws_acmpca_policy',
  'aws_cloudwatch_log_resource_policy',
  'aws_codeartifact_domain_permissions_policy',
  'aws_codeartifact_repository_permissions_policy',
  'aws_glue_resource_policy',
  'aws_media_store_container_policy',
  'aws_msk_cluster_policy',
  'aws_redshift_resource_policy',
  'aws_ses_identity_policy',
  'aws_sesv2_email_identity_policy',
]
const POLICY_KEYS = ['policy', 'access_policy', 'resource_policy', 'policy_document']

/** Default actions of a listener that pass requests on. */
const SERVES = ['forward', 'authenticate-cognito', 'authenticate-oidc']

const ACCESS_LISTS = ['aws_network_acl', 'aws_network_acl_rule']

export const awsRules: Rule[] = [
  ...networkRules('aws', OPENING_TYPES, openings),
  {
    id: 'aws.network.open-access-list',
    title: 'Network access list open to the internet',
    reason: 'The list no longer stops what a security group lets through by mistake.',
    fix: 'Admit the networks and ports that the subnet serves, and the ports of answers above 1023.',
    severity: 'warning',
    types: ACCESS_LISTS,
    check: (subject) => accessListOpenings(subject).flatMap(describeOpening),
  },
  {
    id: 'aws.storage.public-bucket-acl',
    title: 'Public access list of a bucket',
    reason: 'Anyone on the internet, or with any AWS account, can read or even write the objects.',
    fix: 'Use the private access list and name readers in a bucket policy.',
    severity: 'error',
    types: ['aws_s3_bucket', 'aws_s3_bucket_acl', 'aws_s3_object', 'aws_s3_bucket_object'],
    check: (subject) => {
      const acl = PUBLIC_ACLS.find((name) => textOf(subject, 'acl') === name)
      const grants = [...blocksAt(subject, 'access_control_policy.grant.grantee'), ...blocksOf(subject, 'grant')].some(
        (grantee) => EVERYONE.test(textOf(grantee, 'uri') ?? ''),
      )
      return [...(acl ? [`The access list is ${acl}.`] : []), ...(grants ? ['A grant names everyone.'] : [])]
    },
  },
  {
    id: 'aws.network.plain-http-listener',
    title: 'Listener without encryption',
    reason: 'Passwords, cookies and data pass the network in clear text, and anyone on the way can change them.',
    fix: 'Listen with HTTPS and a certificate, and let port 80 only redirect.',
    severity: 'error',
    types: ['aws_lb_listener', 'aws_alb_listener'],
    message: 'The listener serves plain HTTP instead of redirecting.',
    isBrokenBy: (subject) =>
      textOf(subject, 'protocol') === 'HTTP' &&
      blocksOf(subject, 'default_action').some((action) => SERVES.includes(textOf(action, 'type') ?? '')),
  },
  {
    id: 'aws.storage.public-access-block-removed',
    title: 'Block of public access removed',
    reason: 'Without it a public policy or access list takes effect.',
    fix: 'Keep the block while the bucket exists.',
    severity: 'warning',
    types: ['aws_s3_bucket_public_access_block', 'aws_s3_account_public_access_block'],
    looksAt: 'change',
    message: 'The block of public access is deleted.',
    isBrokenBy: ({ action }) => action === 'delete',
  },
  {
    id: 'aws.database.public-instance',
    title: 'Database with a public address',
    reason: 'The database can be reached from the internet as soon as its security group allows it.',
    fix: 'Set publicly_accessible to false and reach it from inside the network.',
    severity: 'error',
    types: [
      'aws_db_instance',
      'aws_rds_cluster_instance',
      'aws_docdb_cluster_instance',
      'aws_neptune_cluster_instance',
      'aws_redshift_cluster',
      'aws_redshiftserverless_workgroup',
      'aws_dms_replication_instance',
      'aws_mq_broker',
    ],
    check: flagsAre(true, 'publicly_accessible'),
  },
  {
    id: 'aws.database.public-brokers',
    title: 'Kafka brokers with public addresses',
    reason: 'Brokers with public addresses are reachable from the internet.',
    fix: 'Leave public access disabled and connect from inside the network.',
    severity: 'error',
    types: ['aws_msk_cluster'],
    message: 'The brokers get public addresses.',
    isBrokenBy: (subject) =>
      hasValue(subject, 'broker_node_group_info.connectivity_info.public_access.type', 'SERVICE_PROVIDED_EIPS'),
  },
  {
    id: 'aws.storage.force-destroy',
    title: 'Deletion does not ask whether it is empty',
    reason: 'A later deletion takes everything inside with it, without a question.',
    fix: 'Leave force_destroy (force_delete) off where data matters.',
    severity: 'warning',
    types: ['aws_s3_bucket', 'aws_ecr_repository', 'aws_backup_vault', 'aws_route53_zone', 'aws_s3_directory_bucket'],
    check: flagsAre(true, 'force_destroy', 'force_delete'),
  },
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
    id: 'aws.iam.admin-attachment',
    title: 'AdministratorAccess attached',
    reason: 'The managed policy allows every action on every resource.',
    fix: 'Attach a policy with the actions and resources that the identity needs.',
    severity: 'error',
    types: [...ATTACHMENTS, 'aws_iam_role'],
    message: 'Attaches the managed policy AdministratorAccess.',
    isBrokenBy: (subject) => attachedPolicies(subject).includes('AdministratorAccess'),
  },
  {
    id: 'aws.iam.broad-attachment',
    title: 'Very broad managed policy attached',
    reason: 'PowerUserAccess and IAMFullAccess lead to administration of the account in one step.',
    fix: 'Attach a policy with the actions and resources that the identity needs.',
    severity: 'warning',
    types: [...ATTACHMENTS, 'aws_iam_role'],
    check: (subject) =>
      ['PowerUserAccess', 'IAMFullAccess']
        .filter((name) => attachedPolicies(subject).includes(name))
        .map((name) => `Attaches the managed policy ${name}.`),
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
  {
    id: 'aws.iam.access-key',
    title: 'Long-lived access key',
    reason: 'The key never expires, and its secret stands in the state of the engine.',
    fix: 'Let workloads assume a role; people sign in through the identity provider.',
    severity: 'warning',
    types: ['aws_iam_access_key'],
    message: 'Creates an access key that does not expire.',
    isBrokenBy: (subject) => textOf(subject, 'status') !== 'Inactive',
  },
  {
    id: 'aws.storage.public-bucket-policy',
    title: 'Bucket policy for everyone',
    reason: 'Anyone on the internet can do with the bucket what the statement allows.',
    fix: 'Name the principals, or serve public files through a distribution with an origin access control.',
    severity: 'error',
    types: ['aws_s3_bucket_policy', 'aws_s3_bucket'],
    message: 'A statement of the bucket policy allows everyone, without a condition that narrows who.',
    isBrokenBy: (subject) => allowsAnyone(resourcePolicy(subject, 'policy')),
  },
  {
    id: 'aws.iam.open-trust-policy',
    title: 'Role that anyone may assume',
    reason: 'Every AWS account in the world can take the permissions of the role.',
    fix: 'Name the accounts, roles or services that may assume it.',
    severity: 'critical',
    types: ['aws_iam_role'],
    message: 'The trust policy lets everyone assume the role.',
    isBrokenBy: (subject) => allowsAnyone(resourcePolicy(subject, 'assume_role_policy')),
  },
  {
    id: 'aws.iam.open-token-trust',
    title: 'Role for the tokens of every customer of an issuer',
    reason: 'GitHub, GitLab and others sign tokens for everyone: without the subject, anyone can take the role.',
    fix: 'Name the owner and the repository (the organization and the workspace) in a condition on the subject.',
    severity: 'critical',
    types: ['aws_iam_role'],
    message: 'The trust policy admits tokens of every customer of the issuer.',
    isBrokenBy: (subject) => tokenAudience(resourcePolicy(subject, 'assume_role_policy')) === 'everyone',
  },
  {
    id: 'aws.iam.wide-token-trust',
    title: 'Role for all tokens of a customer of an issuer',
    reason: 'Every repository of the organization, or every service account of the cluster, can take the role.',
    fix: 'Name the repository or the service account in a condition on the subject.',
    severity: 'warning',
    types: ['aws_iam_role'],
    check: (subject) => {
      const audience = tokenAudience(resourcePolicy(subject, 'assume_role_policy'))
      if (audience === 'customer')
        return ['The trust policy admits every token of an organization, a workspace or a cluster.']
      return audience === 'nobody'
        ? ['StringEquals takes the * of a subject literally; as a pattern it would admit every customer of the issuer.']
        : []
    },
  },
  {
    id: 'aws.iam.public-resource-policy',
    title: 'Resource policy for everyone',
    reason: 'Anyone with an AWS account, or without one, can do what the statement allows.',
    fix: 'Name the principals, or add a condition on the account, the organization or the source.',
    severity: 'error',
    types: RESOURCE_POLICIES,
    message: 'A statement of the resource policy allows everyone, without a condition that narrows who.',
    isBrokenBy: (subject) => POLICY_KEYS.some((key) => allowsAnyone(resourcePolicy(subject, key))),
  },
  {
    id: 'aws.iam.public-lambda-permission',
    title: 'Function that anyone may invoke',
    reason: 'Without a source every AWS account can run the function at your cost.',
    fix: 'Set source_arn, source_account or principal_org_id, or name the principal.',
    severity: 'error',
    types: ['aws_lambda_permission', 'aws_lambda_layer_version_permission'],
    message: 'Every AWS account may use the function or the layer.',
    isBrokenBy: (subject) =>
      textOf(subject, 'principal') === '*' &&
      textOf(subject, 'function_url_auth_type') !== 'NONE' &&
      ['source_arn', 'source_account', 'principal_org_id', 'organization_id'].every((key) => isAbsent(subject, key)),
  },
  {
    id: 'aws.compute.public-function-url',
    title: 'Function URL without authorization',
    reason: 'Anyone who knows the address runs the function.',
    fix: 'Use AWS_IAM, or put a gateway with authorization in front of it.',
    severity: 'warning',
    types: ['aws_lambda_function_url'],
    message: 'The function URL asks for no authorization.',
    isBrokenBy: (subject) => textOf(subject, 'authorization_type') === 'NONE',
  },
  {
    id: 'aws.database.public-search-domain',
    title: 'Search domain open to everyone',
    reason: 'The indexes of the domain can be read and deleted by anyone on the internet.',
    fix: 'Place the domain in a VPC, or name principals or addresses in the access policy.',
    severity: 'error',
    types: ['aws_opensearch_domain', 'aws_elasticsearch_domain'],
    message: 'The access policy lets everyone use a domain that is not in a VPC.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'vpc_options').length === 0 &&
      !isUnknown(subject, 'vpc_options') &&
      allowsAnyone(resourcePolicy(subject, 'access_policies')),
  },
]

/** Reports whether an action is all of a service, unless the policy is reported for all of IAM. */
const isWholeService = (action: string, statements: readonly Statement[]): boolean =>
  /^[a-z0-9*-]+:\*+$/.test(action) && !(action === 'iam:*' && governsIam(statements))

function openings(subject: Subject): Opening[] {
  if (GROUPS.includes(subject.type)) return blocksOf(subject, 'ingress').flatMap((rule) => openingsOf(rule, 'protocol'))
  if (subject.type === 'aws_security_group_rule')
    return textOf(subject, 'type') === 'ingress' ? openingsOf(subject, 'protocol') : []
  if (subject.type === 'aws_vpc_security_group_ingress_rule') return openingsOf(subject, 'ip_protocol')
  return blocksOf(subject, 'port_info').flatMap((rule) => openingsOf(rule, 'protocol'))
}

/** Returns what an access list admits; the first matching entry decides, so an earlier one for everyone hides later ones. */
function accessListOpenings(subject: Subject): Opening[] {
  const isList = subject.type === 'aws_network_acl'
  const entries = isList ? blocksOf(subject, 'ingress') : flagOf(subject, 'egress') === true ? [] : [subject]
  const [action, number] = isList ? ['action', 'rule_no'] : ['rule_action', 'rule_number']
  const denied: Opening[] = []
  return entries
    .toSorted((a, b) => (numberOf(a, number) ?? 0) - (numberOf(b, number) ?? 0))
    .flatMap((entry) => {
      const openings = openingsOf(entry, 'protocol')
      if (textOf(entry, action)?.toLowerCase() === 'allow')
        return openings.flatMap((opening) => denied.reduce(without, [opening]))
      denied.push(...openings)
      return []
    })
}

/** Takes what an earlier entry denies from openings. */
const without = (openings: readonly Opening[], denied: Opening): Opening[] =>
  openings.flatMap((opening) => {
    const { audience, protocol, from, to } = opening
    if (denied.audience !== audience || denied.to < from || denied.from > to) return [opening]
    // What is open to every protocol stays so without one of them.
    if (denied.protocol !== 'all' && denied.protocol !== protocol) return [opening]
    return [
      { ...opening, to: denied.from - 1 },
      { ...opening, from: denied.to + 1 },
    ].filter((rest) => rest.from <= rest.to)
  })

const SOURCES = [
  'cidr_block',
  'ipv6_cidr_block',
  'cidr_blocks',
  'ipv6_cidr_blocks',
  'cidr_ipv4',
  'cidr_ipv6',
  'cidrs',
  'ipv6_cidrs',
]

function openingsOf(rule: View, protocolKey: string): Opening[] {
  const protocol = protocolOf(textOf(rule, protocolKey))
  const ports = portsOf(rule, protocol === 'all')
  if (ports === null) return []
  return audiencesOf(SOURCES.flatMap((key) => textsOf(rule, key))).map((audience) => ({ audience, protocol, ...ports }))
}

/** Returns the ports of a rule; null when they are unknown before the apply or not set. */
function portsOf(rule: View, all: boolean): { from: number; to: number } | null {
  if (all) return EVERY_PORT
  if (isUnknown(rule, 'from_port') || isUnknown(rule, 'to_port')) return null
  const from = numberOf(rule, 'from_port')
  const to = numberOf(rule, 'to_port') ?? from
  return from === null || to === null ? null : { from, to }
}
