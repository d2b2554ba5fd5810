import { bad, type Case, configured, constant, deleted, fine, reference } from '../support.ts'

const policy = (statement: unknown) => JSON.stringify({ Version: '2012-10-17', Statement: statement })
const allow = (Action: unknown, Resource: unknown, more = {}) =>
  policy([{ Effect: 'Allow', Action, Resource, ...more }])
const anyone = (more = {}) =>
  policy({ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::b/*', ...more })
const trust = (make: typeof bad, name: string, Principal: object, more = {}) =>
  make('aws.iam.open-trust-policy', name, 'aws_iam_role', {
    assume_role_policy: policy([{ Effect: 'Allow', Principal, Action: 'sts:AssumeRole', ...more }]),
  })

const iam: Case[] = [
  bad('aws.iam.admin-policy', 'everything on everything', 'aws_iam_policy', { policy: allow('*', '*') }),
  bad('aws.iam.admin-policy', 'in lists', 'aws_iam_role_policy', { policy: allow(['s3:Get*', '*'], ['*']) }),
  bad('aws.iam.admin-policy', 'one statement that is no list', 'aws_iam_user_policy', {
    policy: policy({ Effect: 'Allow', Action: '*:*', Resource: '*' }),
  }),
  bad('aws.iam.admin-policy', 'inline in a role', 'aws_iam_role', {
    inline_policy: [{ name: 'x', policy: allow('*', '*') }],
  }),
  bad('aws.iam.admin-policy', 'a permission set', 'aws_ssoadmin_permission_set_inline_policy', {
    inline_policy: allow('*', '*'),
  }),
  fine('aws.iam.admin-policy', 'denied', 'aws_iam_policy', {
    policy: policy([{ Effect: 'Deny', Action: '*', Resource: '*' }]),
  }),
  fine('aws.iam.admin-policy', 'on one bucket', 'aws_iam_policy', { policy: allow('*', 'arn:aws:s3:::b') }),
  fine('aws.iam.admin-policy', 'unknown', 'aws_iam_policy', {}, { after_unknown: { policy: true } }),
  fine('aws.iam.admin-policy', 'no JSON', 'aws_iam_policy', { policy: '{"Statement": [' }),
  fine('aws.iam.admin-policy', 'JSON of another kind', 'aws_iam_policy', { policy: '[[1],null,{"Statement":7}]' }),
  bad('aws.iam.admin-attachment', 'attached', 'aws_iam_role_policy_attachment', {
    policy_arn: 'arn:aws:iam::aws:policy/AdministratorAccess',
  }),
  bad('aws.iam.admin-attachment', 'China', 'aws_iam_role', {
    managed_policy_arns: ['arn:aws-cn:iam::aws:policy/AdministratorAccess'],
  }),
  bad('aws.iam.admin-attachment', 'permission set', 'aws_ssoadmin_managed_policy_attachment', {
    managed_policy_arn: 'arn:aws:iam::aws:policy/AdministratorAccess',
  }),
  fine('aws.iam.admin-attachment', 'a policy of the account by that name', 'aws_iam_role_policy_attachment', {
    policy_arn: 'arn:aws:iam::123456789012:policy/AdministratorAccess',
  }),
  bad('aws.iam.broad-attachment', 'power users', 'aws_iam_group_policy_attachment', {
    policy_arn: 'arn:aws:iam::aws:policy/PowerUserAccess',
  }),
  fine('aws.iam.broad-attachment', 'read only', 'aws_iam_group_policy_attachment', {
    policy_arn: 'arn:aws:iam::aws:policy/ReadOnlyAccess',
  }),
  bad('aws.iam.service-wildcard', 'a service', 'aws_iam_policy', { policy: allow('s3:*', '*') }),
  bad('aws.iam.service-wildcard', 'everything on a condition', 'aws_iam_policy', {
    policy: allow('*', '*', { Condition: { Bool: { 'aws:MultiFactorAuthPresent': 'true' } } }),
  }),
  bad('aws.iam.service-wildcard', 'every action on a resource', 'aws_iam_policy', {
    policy: allow('*', 'arn:aws:s3:::example/*'),
  }),
  fine('aws.iam.service-wildcard', 'a service on a resource', 'aws_iam_policy', {
    policy: allow('s3:*', 'arn:aws:s3:::example/*'),
  }),
  fine('aws.iam.service-wildcard', 'a prefix', 'aws_iam_policy', { policy: allow('s3:Get*', '*') }),
  fine('aws.iam.service-wildcard', 'that is reported as everything', 'aws_iam_policy', { policy: allow('*', '*') }),
  bad('aws.iam.not-action', 'all but', 'aws_iam_policy', {
    policy: policy([{ Effect: 'Allow', NotAction: ['iam:*'], Resource: '*' }]),
  }),
  fine('aws.iam.not-action', 'denied all but', 'aws_iam_policy', {
    policy: policy([{ Effect: 'Deny', NotAction: ['s3:*'], Resource: '*' }]),
  }),
  bad('aws.iam.access-key', 'a key', 'aws_iam_access_key', { user: 'ci', status: 'Active' }),
  fine('aws.iam.access-key', 'switched off', 'aws_iam_access_key', { user: 'ci', status: 'Inactive' }),
  trust(bad, 'everyone', { AWS: '*' }),
  trust(fine, 'in the organization', { AWS: ['*'] }, { Condition: { StringEquals: { 'aws:PrincipalOrgID': 'o-1' } } }),
  trust(fine, 'a service', { Service: 'ec2.amazonaws.com' }),
  bad('aws.iam.public-resource-policy', 'queue', 'aws_sqs_queue_policy', { policy: anyone() }),
  bad('aws.iam.public-resource-policy', 'key', 'aws_kms_key', { policy: anyone({ Principal: { AWS: ['*'] } }) }),
  bad('aws.iam.public-resource-policy', 'everyone but one', 'aws_sns_topic_policy', {
    policy: anyone({ Principal: undefined, NotPrincipal: { AWS: 'arn:aws:iam::1:root' } }),
  }),
  fine('aws.iam.public-resource-policy', 'of the account', 'aws_sns_topic_policy', {
    policy: anyone({ Condition: { StringEquals: { 'AWS:SourceAccount': '123456789012' } } }),
  }),
  bad('aws.iam.public-lambda-permission', 'everyone', 'aws_lambda_permission', {
    principal: '*',
    action: 'lambda:InvokeFunction',
  }),
  fine('aws.iam.public-lambda-permission', 'a source', 'aws_lambda_permission', {
    principal: '*',
    source_account: '123456789012',
  }),
  fine(
    'aws.iam.public-lambda-permission',
    'a source known later',
    'aws_lambda_permission',
    { principal: '*' },
    { after_unknown: { source_arn: true } },
  ),
  fine('aws.iam.public-lambda-permission', 'a service', 'aws_lambda_permission', { principal: 'sns.amazonaws.com' }),
]

const exposure: Case[] = [
  bad('aws.storage.public-bucket-policy', 'everyone', 'aws_s3_bucket_policy', { policy: anyone() }),
  bad('aws.storage.public-bucket-policy', 'everyone over TLS', 'aws_s3_bucket_policy', {
    policy: anyone({ Condition: { Bool: { 'aws:SecureTransport': 'true' } } }),
  }),
  fine('aws.storage.public-bucket-policy', 'from a network', 'aws_s3_bucket_policy', {
    policy: anyone({ Condition: { StringEquals: { 'aws:SourceVpce': 'vpce-1' } } }),
  }),
  fine('aws.storage.public-bucket-policy', 'TLS enforced', 'aws_s3_bucket_policy', {
    policy: anyone({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
  }),
  bad('aws.network.plain-http-listener', 'forwards', 'aws_lb_listener', {
    protocol: 'HTTP',
    default_action: [{ type: 'forward' }],
  }),
  fine('aws.network.plain-http-listener', 'redirects', 'aws_lb_listener', {
    protocol: 'HTTP',
    default_action: [{ type: 'redirect', redirect: [{ protocol: 'HTTPS' }] }],
  }),
  fine('aws.network.plain-http-listener', 'encrypted', 'aws_lb_listener', {
    protocol: 'HTTPS',
    default_action: [{ type: 'forward' }],
  }),
  bad('aws.storage.public-bucket-acl', 'new form', 'aws_s3_bucket_acl', { acl: 'public-read' }),
  bad('aws.storage.public-bucket-acl', 'old form', 'aws_s3_bucket', { acl: 'public-read-write' }),
  bad('aws.storage.public-bucket-acl', 'a grant', 'aws_s3_bucket_acl', {
    access_control_policy: [
      {
        grant: [
          { permission: 'READ', grantee: [{ type: 'Group', uri: 'http://acs.amazonaws.com/groups/global/AllUsers' }] },
        ],
      },
    ],
  }),
  bad(
    'aws.storage.public-bucket-acl',
    'written where it was read',
    'aws_s3_bucket_acl',
    { acl: 'public-read-write' },
    {
      actions: ['update'],
      before: { acl: 'public-read' },
    },
  ),
  fine(
    'aws.storage.public-bucket-acl',
    'read as before',
    'aws_s3_bucket_acl',
    { acl: 'public-read' },
    {
      actions: ['update'],
      before: { acl: 'public-read' },
    },
  ),
  fine('aws.storage.public-bucket-acl', 'private', 'aws_s3_bucket_acl', { acl: 'private' }),
  fine('aws.storage.public-bucket-acl', 'log delivery', 'aws_s3_bucket', {
    grant: [{ permissions: ['WRITE'], type: 'Group', uri: 'http://acs.amazonaws.com/groups/s3/LogDelivery' }],
  }),
  bad('aws.storage.public-access-allowed', 'one switch', 'aws_s3_bucket_public_access_block', {
    block_public_acls: true,
    block_public_policy: false,
    ignore_public_acls: true,
    restrict_public_buckets: true,
  }),
  fine('aws.storage.public-access-allowed', 'all on', 'aws_s3_bucket_public_access_block', {
    block_public_acls: true,
    block_public_policy: true,
    ignore_public_acls: true,
    restrict_public_buckets: true,
  }),
  bad('aws.storage.public-access-block-removed', 'deleted', 'aws_s3_bucket_public_access_block', null, deleted()),
  fine('aws.storage.public-access-block-removed', 'made', 'aws_s3_bucket_public_access_block', {}),
  bad('aws.database.public-instance', 'RDS', 'aws_db_instance', { publicly_accessible: true }),
  bad('aws.database.public-instance', 'Redshift', 'aws_redshift_cluster', { publicly_accessible: true }),
  fine('aws.database.public-instance', 'private', 'aws_db_instance', { publicly_accessible: false }),
  fine(
    'aws.database.public-instance',
    'unknown',
    'aws_db_instance',
    {},
    { after_unknown: { publicly_accessible: true } },
  ),
  bad('aws.database.public-brokers', 'public', 'aws_msk_cluster', {
    broker_node_group_info: [{ connectivity_info: [{ public_access: [{ type: 'SERVICE_PROVIDED_EIPS' }] }] }],
  }),
  fine('aws.database.public-brokers', 'disabled', 'aws_msk_cluster', {
    broker_node_group_info: [{ connectivity_info: [{ public_access: [{ type: 'DISABLED' }] }] }],
  }),
  bad('aws.database.public-search-domain', 'everyone', 'aws_opensearch_domain', {
    access_policies: anyone(),
    vpc_options: [],
  }),
  fine('aws.database.public-search-domain', 'in a VPC', 'aws_opensearch_domain', {
    access_policies: anyone(),
    vpc_options: [{ subnet_ids: ['a'] }],
  }),
  fine('aws.database.public-search-domain', 'an address', 'aws_elasticsearch_domain', {
    access_policies: anyone({ Condition: { IpAddress: { 'aws:SourceIp': ['198.51.100.7'] } } }),
  }),
  bad('aws.storage.public-snapshot', 'snapshot', 'aws_db_snapshot', { shared_accounts: ['all'] }),
  bad('aws.storage.public-snapshot', 'image', 'aws_ami_launch_permission', { group: 'all' }),
  fine('aws.storage.public-snapshot', 'an account', 'aws_db_snapshot', { shared_accounts: ['123456789012'] }),
  bad('aws.network.public-cluster-endpoint', 'everyone', 'aws_eks_cluster', {
    vpc_config: [{ endpoint_public_access: true, public_access_cidrs: ['0.0.0.0/0'] }],
  }),
  fine('aws.network.public-cluster-endpoint', 'an office', 'aws_eks_cluster', {
    vpc_config: [{ endpoint_public_access: true, public_access_cidrs: ['198.51.100.0/24'] }],
  }),
  fine('aws.network.public-cluster-endpoint', 'private', 'aws_eks_cluster', {
    vpc_config: [{ endpoint_public_access: false, public_access_cidrs: ['0.0.0.0/0'] }],
  }),
  bad('aws.compute.public-function-url', 'none', 'aws_lambda_function_url', { authorization_type: 'NONE' }),
  fine('aws.compute.public-function-url', 'IAM', 'aws_lambda_function_url', { authorization_type: 'AWS_IAM' }),
  bad('aws.storage.force-destroy', 'bucket', 'aws_s3_bucket', { force_destroy: true }),
  bad('aws.storage.force-destroy', 'registry', 'aws_ecr_repository', { force_delete: true }),
  fine('aws.storage.force-destroy', 'off', 'aws_s3_bucket', { force_destroy: false }),
]

const encryption: Case[] = [
  bad('aws.encryption.disabled', 'database', 'aws_db_instance', { storage_encrypted: false }),
  bad('aws.encryption.disabled', 'root disk', 'aws_instance', { root_block_device: [{ encrypted: false }] }),
  bad('aws.encryption.disabled', 'a switch as text', 'aws_launch_template', {
    block_device_mappings: [{ ebs: [{ encrypted: 'false' }] }],
  }),
  bad('aws.encryption.disabled', 'by a word', 'aws_kinesis_stream', { encryption_type: 'NONE' }),
  bad(
    'aws.encryption.disabled',
    'written in the code',
    'aws_ebs_volume',
    { encrypted: false },
    { rest: configured('aws_ebs_volume', { encrypted: constant(false) }) },
  ),
  fine(
    'aws.encryption.disabled',
    'a default that the code does not have',
    'aws_ami_copy',
    { encrypted: false },
    { rest: configured('aws_ami_copy', { name: constant('x') }) },
  ),
  fine('aws.encryption.disabled', 'on', 'aws_db_instance', { storage_encrypted: true }),
  fine('aws.encryption.disabled', 'unknown', 'aws_rds_cluster', {}, { after_unknown: { storage_encrypted: true } }),
  fine('aws.encryption.disabled', 'a queue with a key of its own', 'aws_sqs_queue', {
    sqs_managed_sse_enabled: false,
    kms_master_key_id: 'alias/q',
  }),
  fine('aws.encryption.disabled', 'a disk from a snapshot', 'aws_ebs_volume', {
    encrypted: false,
    snapshot_id: 'snap-1',
  }),
  bad('aws.encryption.missing', 'database', 'aws_db_instance', { storage_encrypted: null }),
  bad('aws.encryption.missing', 'a block that is not there', 'aws_opensearch_domain', { encrypt_at_rest: [] }),
  bad(
    'aws.encryption.missing',
    'a default filled in by the provider',
    'aws_kinesis_stream',
    { encryption_type: 'NONE' },
    { rest: configured('aws_kinesis_stream', { name: constant('x') }) },
  ),
  // The provider plans values that are computed by the cloud as known after the apply.
  bad(
    'aws.encryption.disabled',
    'a database, with what the cloud answers unknown',
    'aws_db_instance',
    { engine: 'postgres', storage_encrypted: false, replicate_source_db: null },
    {
      after_unknown: { snapshot_identifier: true },
      rest: configured('aws_db_instance', { storage_encrypted: constant(false) }),
    },
  ),
  fine(
    'aws.encryption.disabled',
    'a database from a snapshot that is known later',
    'aws_db_instance',
    { engine: 'postgres', storage_encrypted: false },
    {
      after_unknown: { snapshot_identifier: true },
      rest: configured('aws_db_instance', { snapshot_identifier: reference('aws_db_snapshot.x.id') }),
    },
  ),
  bad(
    'aws.encryption.missing',
    'a database, with what the cloud answers unknown',
    'aws_db_instance',
    { engine: 'postgres', storage_encrypted: null },
    { after_unknown: { snapshot_identifier: true }, rest: configured('aws_db_instance', { engine: constant('x') }) },
  ),
  bad(
    'aws.encryption.missing',
    'a disk whose code says nothing',
    'aws_ebs_volume',
    { size: 1 },
    {
      after_unknown: { encrypted: true, snapshot_id: true },
      rest: configured('aws_ebs_volume', { size: constant(1) }),
    },
  ),
  fine(
    'aws.encryption.missing',
    'a disk whose code takes it from elsewhere',
    'aws_ebs_volume',
    { size: 1 },
    {
      after_unknown: { encrypted: true },
      rest: configured('aws_ebs_volume', { encrypted: reference('module.x.encrypted') }),
    },
  ),
  fine(
    'aws.encryption.missing',
    'a cluster of Valkey',
    'aws_elasticache_replication_group',
    { engine: 'valkey' },
    {
      after_unknown: { at_rest_encryption_enabled: true },
      rest: configured('aws_elasticache_replication_group', { engine: constant('valkey') }),
    },
  ),
  fine('aws.encryption.missing', 'filled in later', 'aws_ebs_volume', {}, { after_unknown: { encrypted: true } }),
  fine(
    'aws.encryption.missing',
    'a block filled in later',
    'aws_opensearch_domain',
    {},
    { after_unknown: { encrypt_at_rest: true } },
  ),
  fine('aws.encryption.missing', 'a member of an Aurora cluster', 'aws_db_instance', { engine: 'aurora-postgresql' }),
  fine('aws.encryption.missing', 'a replica', 'aws_db_instance', { replicate_source_db: 'main' }),
]

const stateful: Case[] = [
  bad('aws.stateful.no-final-snapshot', 'deleted', 'aws_db_instance', null, deleted({ skip_final_snapshot: true })),
  bad(
    'aws.stateful.no-final-snapshot',
    'replaced',
    'aws_rds_cluster',
    {},
    { actions: ['delete', 'create'], before: { skip_final_snapshot: true } },
  ),
  fine(
    'aws.stateful.no-final-snapshot',
    'with a snapshot',
    'aws_db_instance',
    null,
    deleted({ skip_final_snapshot: false }),
  ),
  fine('aws.stateful.no-final-snapshot', 'made', 'aws_db_instance', { skip_final_snapshot: true }),
  bad('aws.stateful.backups-off', 'no days', 'aws_db_instance', { backup_retention_period: 0 }),
  fine('aws.stateful.backups-off', 'a week', 'aws_db_instance', { backup_retention_period: 7 }),
]

const REPLICA = { backup_retention_period: 0, replicate_source_db: 'arn:aws:rds:eu-central-1:123456789012:db:main' }
const containers = (privileged: boolean) => ({ container_definitions: JSON.stringify([{ name: 'x', privileged }]) })
const domain = (policy: string) => ({ domain_endpoint_options: [{ enforce_https: true, tls_security_policy: policy }] })

const entry = (rule_no: number, action: string, port: number, cidr_block = '0.0.0.0/0') => ({
  rule_no,
  action,
  protocol: 'tcp',
  cidr_block,
  from_port: port,
  to_port: port,
})
const GONE = { actions: ['update'], before: { web_acl_id: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/x/1' } }
const RETENTION = { actions: ['update'], before: { retention_in_days: 365 } }

const evidence: Case[] = [
  bad('aws.evidence.removed', 'a trail', 'aws_cloudtrail', null, deleted()),
  bad(
    'aws.evidence.removed',
    'a trail that leaves the state',
    'aws_cloudtrail',
    {},
    { actions: ['forget'], before: {} },
  ),
  bad('aws.evidence.removed', 'a firewall taken off', 'aws_wafv2_web_acl_association', null, deleted()),
  bad('aws.evidence.removed', 'a firewall taken off by an update', 'aws_cloudfront_distribution', {}, GONE),
  fine(
    'aws.evidence.removed',
    'another firewall that is known later',
    'aws_cloudfront_distribution',
    {},
    { ...GONE, after_unknown: { web_acl_id: true } },
  ),
  fine('aws.evidence.removed', 'made', 'aws_cloudtrail', {}),
  fine('aws.evidence.removed', 'something else', 'aws_instance', null, deleted()),
  bad('aws.evidence.shortened', 'to a day', 'aws_cloudwatch_log_group', { retention_in_days: 1 }, RETENTION),
  bad(
    'aws.evidence.shortened',
    'from for ever',
    'aws_cloudwatch_log_group',
    { retention_in_days: 30 },
    { actions: ['update'], before: { retention_in_days: 0 } },
  ),
  fine('aws.evidence.shortened', 'to half a year', 'aws_cloudwatch_log_group', { retention_in_days: 180 }, RETENTION),
  fine('aws.evidence.shortened', 'made so', 'aws_cloudwatch_log_group', { retention_in_days: 1 }),
  bad('aws.network.open-access-list', 'SSH', 'aws_network_acl', { ingress: [entry(100, 'allow', 22)] }),
  bad('aws.network.open-access-list', 'everything', 'aws_network_acl_rule', {
    egress: false,
    rule_action: 'allow',
    protocol: '-1',
    cidr_block: '0.0.0.0/0',
  }),
  fine('aws.network.open-access-list', 'outwards', 'aws_network_acl_rule', {
    egress: true,
    rule_action: 'allow',
    protocol: '-1',
    cidr_block: '0.0.0.0/0',
  }),
  fine('aws.network.open-access-list', 'denied before', 'aws_network_acl', {
    ingress: [entry(100, 'allow', 22), entry(90, 'deny', 22)],
  }),
  fine('aws.network.open-access-list', 'a part denied before', 'aws_network_acl', {
    ingress: [
      { ...entry(100, 'allow', 20), to_port: 80 },
      { ...entry(90, 'deny', 20), to_port: 79 },
    ],
  }),
  bad('aws.network.open-access-list', 'less denied than is open', 'aws_network_acl', {
    ingress: [{ ...entry(100, 'allow', 20), to_port: 80 }, entry(90, 'deny', 22)],
  }),
  bad('aws.network.open-access-list', 'denied too late', 'aws_network_acl', {
    ingress: [entry(100, 'allow', 22), entry(110, 'deny', 22)],
  }),
  fine('aws.network.open-access-list', 'answers', 'aws_network_acl', {
    ingress: [{ ...entry(100, 'allow', 1024), to_port: 65_535 }, entry(90, 'deny', 3389)],
  }),
  bad('aws.network.open-access-list', 'more than answers', 'aws_network_acl', {
    ingress: [{ ...entry(100, 'allow', 1000), to_port: 65_535 }],
  }),
  fine('aws.network.open-access-list', 'the web', 'aws_network_acl', { ingress: [entry(100, 'allow', 443)] }),
  fine(
    'common.stateful.access-removed',
    'what another rule tells',
    'aws_s3_bucket_public_access_block',
    null,
    deleted(),
  ),
  fine('common.stateful.unknown-lost', 'what another rule tells', 'aws_cloudtrail', null, deleted()),
]

const tables: Case[] = [
  bad('aws.transit.plain', 'a cache', 'aws_elasticache_replication_group', { transit_encryption_enabled: false }),
  bad('aws.transit.plain', 'one of several behaviours', 'aws_cloudfront_distribution', {
    ordered_cache_behavior: [{ viewer_protocol_policy: 'https-only' }, { viewer_protocol_policy: 'allow-all' }],
  }),
  fine('aws.transit.plain', 'an origin that knows HTTP only', 'aws_cloudfront_distribution', {
    origin: [
      {
        domain_name: 'x.s3-website.eu-central-1.amazonaws.com',
        custom_origin_config: [{ origin_protocol_policy: 'http-only' }],
      },
    ],
  }),
  fine('aws.transit.plain', 'on', 'aws_elasticache_replication_group', { transit_encryption_enabled: true }),
  bad('aws.transit.plain-by-default', 'no parameter of an old family', 'aws_db_parameter_group', {
    family: 'postgres14',
    parameter: [{ name: 'log_connections', value: '1' }],
  }),
  fine('aws.transit.plain-by-default', 'a family that requires it', 'aws_db_parameter_group', { family: 'postgres16' }),
  fine('aws.transit.plain-by-default', 'a cluster of Valkey', 'aws_elasticache_replication_group', {
    engine: 'valkey',
  }),
  bad('aws.transit.old-tls', 'an old policy', 'aws_lb_listener', {
    protocol: 'HTTPS',
    ssl_policy: 'ELBSecurityPolicy-2016-08',
  }),
  bad('aws.transit.old-tls', 'the default of the service', 'aws_lb_listener', { protocol: 'TLS' }),
  bad('aws.transit.old-tls', 'the default of a domain', 'aws_opensearch_domain', {}),
  fine('aws.transit.old-tls', 'a listener that passes TCP through', 'aws_lb_listener', { port: 443, protocol: 'TCP' }),
  fine('aws.network.plain-http-listener', 'TCP on the port of the web', 'aws_lb_listener', {
    port: 80,
    protocol: 'TCP',
    default_action: [{ type: 'forward' }],
  }),
  fine('aws.stateful.unprotected', 'a member, which the cluster protects', 'aws_rds_cluster_instance', {}),
  fine('aws.encryption.missing', 'encrypted with the key of the service', 'aws_db_instance', {
    storage_encrypted: true,
    kms_key_id: null,
  }),
  fine('aws.transit.old-tls', 'a plain listener', 'aws_lb_listener', { protocol: 'HTTP' }),
  fine('aws.transit.old-tls', 'a new policy', 'aws_opensearch_domain', domain('Policy-Min-TLS-1-2-PFS-2023-10')),
  bad('aws.logging.missing', 'no block', 'aws_lb', { access_logs: [] }),
  fine('aws.logging.missing', 'on', 'aws_lb', { access_logs: [{ enabled: true, bucket: 'logs' }] }),
  bad('aws.evidence.stopped', 'a trail', 'aws_cloudtrail', { enable_logging: false }),
  bad(
    'aws.evidence.stopped',
    'by an update',
    'aws_guardduty_detector',
    { enable: false },
    { actions: ['update'], before: { enable: true } },
  ),
  fine(
    'aws.evidence.stopped',
    'before the update',
    'aws_guardduty_detector',
    { enable: false },
    { actions: ['update'], before: { enable: false } },
  ),
  bad('aws.evidence.incomplete', 'one region', 'aws_cloudtrail', { enable_log_file_validation: true }),
  fine('aws.evidence.incomplete', 'all', 'aws_cloudtrail', {
    enable_log_file_validation: true,
    is_multi_region_trail: true,
  }),
  bad('aws.network.public-machine', 'a machine', 'aws_instance', { associate_public_ip_address: true }),
  bad('aws.network.public-machine', 'all of a subnet', 'aws_subnet', { map_public_ip_on_launch: true }),
  fine('aws.network.public-machine', 'private', 'aws_instance', { associate_public_ip_address: false }),
  bad('aws.network.public-endpoint', 'by default', 'aws_transfer_server', {}),
  fine('aws.network.public-endpoint', 'inside', 'aws_transfer_server', { endpoint_type: 'VPC' }),
  bad('aws.network.public-cluster-endpoint', 'by default', 'aws_eks_cluster', { vpc_config: [{}] }),
  fine(
    'aws.network.public-cluster-endpoint',
    'networks known later',
    'aws_eks_cluster',
    { vpc_config: [{}] },
    { after_unknown: { vpc_config: [{ public_access_cidrs: true }] } },
  ),
  bad(
    'aws.network.public-cluster-endpoint',
    'by default, as the provider plans it',
    'aws_eks_cluster',
    { vpc_config: [{ endpoint_public_access: true }] },
    {
      after_unknown: { vpc_config: [{ public_access_cidrs: true }] },
      rest: configured('aws_eks_cluster', { vpc_config: [{ subnet_ids: constant(['a']) }] }),
    },
  ),
  bad('aws.network.open-node-ssh', 'a key alone', 'aws_eks_node_group', { remote_access: [{ ec2_ssh_key: 'ops' }] }),
  fine('aws.network.open-node-ssh', 'with a group', 'aws_eks_node_group', {
    remote_access: [{ ec2_ssh_key: 'ops', source_security_group_ids: ['sg-1'] }],
  }),
  bad('aws.access.no-sign-in', 'a method', 'aws_api_gateway_method', { authorization: 'NONE', http_method: 'POST' }),
  fine('aws.access.no-sign-in', 'a question of browsers', 'aws_api_gateway_method', {
    authorization: 'NONE',
    http_method: 'OPTIONS',
  }),
  fine('aws.access.no-sign-in', 'a key', 'aws_api_gateway_method', {
    authorization: 'NONE',
    http_method: 'POST',
    api_key_required: true,
  }),
  bad('aws.compute.metadata-without-token', 'by default', 'aws_launch_template', { metadata_options: [] }),
  fine('aws.compute.metadata-without-token', 'required', 'aws_instance', {
    metadata_options: [{ http_tokens: 'required' }],
  }),
  fine('aws.compute.metadata-without-token', 'off', 'aws_instance', {
    metadata_options: [{ http_endpoint: 'disabled' }],
  }),
  bad('aws.compute.privileged', 'in a document', 'aws_ecs_task_definition', containers(true)),
  fine('aws.compute.privileged', 'in a document', 'aws_ecs_task_definition', containers(false)),
  bad('aws.stateful.unprotected', 'a cluster', 'aws_rds_cluster', { deletion_protection: false }),
  fine('aws.stateful.unprotected', 'a cluster', 'aws_rds_cluster', { deletion_protection: true }),
  bad('aws.stateful.no-backups', 'a table', 'aws_dynamodb_table', { point_in_time_recovery: [] }),
  fine('aws.stateful.no-backups', 'a table', 'aws_dynamodb_table', { point_in_time_recovery: [{ enabled: true }] }),
  bad('aws.stateful.backups-off', 'versions', 'aws_s3_bucket_versioning', {
    versioning_configuration: [{ status: 'Suspended' }],
  }),
  fine('aws.stateful.backups-off', 'a replica', 'aws_db_instance', REPLICA),
  bad('aws.encryption.no-key-rotation', 'a key', 'aws_kms_key', { enable_key_rotation: false }),
  fine('aws.encryption.no-key-rotation', 'a key in a store of the operator', 'aws_kms_key', {
    custom_key_store_id: 'cks-1',
  }),
  fine('aws.encryption.no-key-rotation', 'a key that signs', 'aws_kms_key', {
    customer_master_key_spec: 'RSA_2048',
    key_usage: 'SIGN_VERIFY',
  }),
  fine('aws.encryption.disabled', 'a serverless cluster, which always is', 'aws_rds_cluster', {
    engine_mode: 'serverless',
    storage_encrypted: false,
  }),
  bad('aws.transit.plain-by-default', 'search domain of several nodes', 'aws_opensearch_domain', {
    domain_endpoint_options: [{ enforce_https: true }],
    cluster_config: [{ instance_count: 2 }],
  }),
  fine('aws.transit.plain-by-default', 'search domain of one node', 'aws_opensearch_domain', {
    domain_endpoint_options: [{ enforce_https: true }],
    cluster_config: [{ instance_count: 1 }],
  }),
  bad('aws.transit.old-tls', 'named policy of a classic balancer', 'aws_load_balancer_policy', {
    policy_attribute: [{ name: 'Reference-Security-Policy', value: 'ELBSecurityPolicy-2016-08' }],
  }),
  fine('aws.transit.old-tls', 'current policy of a classic balancer', 'aws_load_balancer_policy', {
    policy_attribute: [{ name: 'Reference-Security-Policy', value: 'ELBSecurityPolicy-TLS-1-2-2017-01' }],
  }),
  bad('aws.evidence.incomplete', 'recorder without a group', 'aws_config_configuration_recorder', { name: 'a' }),
  bad('aws.evidence.incomplete', 'members left out', 'aws_guardduty_organization_configuration', {
    auto_enable_organization_members: 'NONE',
  }),
  fine('aws.evidence.incomplete', 'every member', 'aws_guardduty_organization_configuration', {
    auto_enable_organization_members: 'ALL',
  }),
  bad('aws.encryption.missing', 'local disks', 'aws_emr_security_configuration', {
    configuration: '{"EncryptionConfiguration":{"EnableAtRestEncryption":true,"AtRestEncryptionConfiguration":{}}}',
  }),
]

export const awsCases: Case[] = [...iam, ...exposure, ...encryption, ...stateful, ...evidence, ...tables]
