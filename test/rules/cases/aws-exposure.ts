import { bad, type Case, deleted, fine } from '../support.ts'

const policy = (more = {}) =>
  JSON.stringify({ Statement: [{ Effect: 'Allow', Principal: '*', Action: '*', Resource: '*', ...more }] })
const OURS = { Condition: { StringEquals: { 'aws:PrincipalOrgID': 'o-1' } } }

/** A bad and a good case of a type. */
const both = (rule: string, name: string, type: string, wrong: object, right: object): Case[] => [
  bad(rule, name, type, { ...wrong }),
  fine(rule, name, type, { ...right }),
]

/** What opens a resource to everyone or to another account. */
const exposure: Case[] = [
  ...[
    ['aws_codebuild_resource_policy', 'policy'],
    ['aws_cloudwatch_log_destination_policy', 'access_policy'],
    ['aws_cloudwatch_log_delivery_destination_policy', 'delivery_destination_policy'],
    ['aws_s3tables_table_policy', 'resource_policy'],
    ['aws_organizations_resource_policy', 'content'],
    ['aws_xray_resource_policy', 'policy_document'],
  ].flatMap(([type = '', key = '']) =>
    both('aws.iam.public-resource-policy', key, type, { [key]: policy() }, { [key]: policy(OURS) }),
  ),
  ...both(
    'aws.iam.public-resource-policy',
    'an event bus',
    'aws_cloudwatch_event_permission',
    { principal: '*' },
    { principal: '*', condition: [{ key: 'aws:PrincipalOrgID', type: 'StringEquals', value: 'o-1' }] },
  ),
  ...both(
    'aws.iam.service-without-source',
    'buckets of everyone',
    'aws_lambda_permission',
    { principal: 's3.amazonaws.com' },
    { principal: 's3.amazonaws.com', source_account: '123456789012' },
  ),
  fine(
    'aws.iam.service-without-source',
    'a source that is known after the apply',
    'aws_lambda_permission',
    { principal: 'sns.amazonaws.com' },
    { after_unknown: { source_arn: true } },
  ),
  ...both(
    'aws.compute.public-function-url',
    'the permission of a URL',
    'aws_lambda_permission',
    { principal: '*', function_url_auth_type: 'NONE' },
    { principal: '*', function_url_auth_type: 'AWS_IAM' },
  ),
  ...both(
    'aws.network.public-endpoint',
    'a search collection',
    'aws_opensearchserverless_security_policy',
    { type: 'network', policy: '[{"Rules":[],"AllowFromPublic":true}]' },
    { type: 'network', policy: '[{"Rules":[],"AllowFromPublic":false}]' },
  ),
  ...both(
    'aws.network.public-endpoint',
    'a list of networks',
    'aws_ec2_managed_prefix_list',
    { entry: [{ cidr: '10.0.0.0/8' }, { cidr: '0.0.0.0/0' }] },
    { entry: [{ cidr: '10.0.0.0/8' }] },
  ),
  ...both(
    'aws.network.public-endpoint',
    'an endpoint service for everyone',
    'aws_vpc_endpoint_service_allowed_principal',
    { principal_arn: '*' },
    { principal_arn: 'arn:aws:iam::123456789012:root' },
  ),
  ...both(
    'aws.network.public-endpoint',
    'builds',
    'aws_codebuild_project',
    { project_visibility: 'PUBLIC_READ' },
    { project_visibility: 'PRIVATE' },
  ),
  ...both(
    'aws.network.cluster-address',
    'an office',
    'aws_eks_cluster',
    { vpc_config: [{ public_access_cidrs: ['192.0.2.0/24'] }] },
    { vpc_config: [{ public_access_cidrs: ['192.0.2.0/24'], endpoint_public_access: false }] },
  ),
  fine('aws.network.cluster-address', 'everyone, which another rule tells', 'aws_eks_cluster', {
    vpc_config: [{ public_access_cidrs: ['0.0.0.0/0'], endpoint_public_access: true }],
  }),
  ...both(
    'aws.database.public-instance',
    'Lightsail',
    'aws_lightsail_database',
    { publicly_accessible: true },
    { publicly_accessible: false },
  ),
  ...both(
    'aws.storage.public-access-allowed',
    'snapshots',
    'aws_ebs_snapshot_block_public_access',
    { state: 'unblocked' },
    { state: 'block-all-sharing' },
  ),
  ...both(
    'aws.storage.public-access-allowed',
    'an access point of several regions',
    'aws_s3control_multi_region_access_point',
    { details: [{ public_access_block: [{ block_public_policy: false }] }] },
    { details: [{ public_access_block: [{ block_public_policy: true }] }] },
  ),
  ...both(
    'aws.storage.public-snapshot',
    'images of a pipeline',
    'aws_imagebuilder_distribution_configuration',
    { distribution: [{ ami_distribution_configuration: [{ launch_permission: [{ user_groups: ['all'] }] }] }] },
    { distribution: [{ ami_distribution_configuration: [{ launch_permission: [{ user_ids: ['123456789012'] }] }] }] },
  ),
  ...both(
    'aws.storage.shared-outside',
    'an image',
    'aws_ami_launch_permission',
    { account_id: '123456789012' },
    { group: 'all' },
  ),
  ...both(
    'aws.storage.shared-outside',
    'a snapshot',
    'aws_db_snapshot',
    { shared_accounts: ['123456789012'] },
    { shared_accounts: ['all'] },
  ),
  ...both(
    'aws.access.no-sign-in',
    'a key in every browser',
    'aws_appsync_graphql_api',
    { authentication_type: 'API_KEY' },
    { authentication_type: 'AWS_IAM' },
  ),
  ...both(
    'aws.access.no-sign-in',
    'an API made from its target',
    'aws_apigatewayv2_api',
    { protocol_type: 'HTTP', target: 'https://example.com' },
    { protocol_type: 'HTTP' },
  ),
  ...both(
    'aws.access.no-sign-in',
    'services of a network',
    'aws_vpclattice_service_network',
    { name: 'x' },
    { auth_type: 'AWS_IAM' },
  ),
  bad(
    'aws.network.open-admin-port',
    'a protocol that is known after the apply',
    'aws_security_group_rule',
    { type: 'ingress', from_port: 22, to_port: 22, cidr_blocks: ['0.0.0.0/0'] },
    { after_unknown: { protocol: true } },
  ),
  ...both('aws.transit.plain', 'files', 'aws_transfer_server', { protocols: ['FTP'] }, { protocols: ['SFTP', 'FTPS'] }),
]

/** What leaves records out, or stops them. */
const records: Case[] = [
  bad('aws.evidence.not-started', 'no status', 'aws_config_configuration_recorder', { name: 'r' }),
  fine(
    'aws.evidence.not-started',
    'started before',
    'aws_config_configuration_recorder',
    { name: 'r' },
    {
      actions: ['update'],
      before: { name: 'r', role_arn: 'x' },
    },
  ),
  ...both(
    'aws.evidence.incomplete',
    'no management events',
    'aws_cloudtrail',
    {
      is_multi_region_trail: true,
      enable_log_file_validation: true,
      event_selector: [{ include_management_events: false }],
    },
    {
      is_multi_region_trail: true,
      enable_log_file_validation: true,
      event_selector: [{ include_management_events: true, read_write_type: 'All' }],
    },
  ),
  ...both(
    'aws.evidence.incomplete',
    'a trail of a week',
    'aws_cloudwatch_log_group',
    { name: 'acme-cloudtrail', retention_in_days: 7 },
    { name: 'acme-cloudtrail', retention_in_days: 0 },
  ),
  fine('aws.evidence.incomplete', 'an application of a week', 'aws_cloudwatch_log_group', {
    name: '/aws/lambda/acme',
    retention_in_days: 7,
  }),
  ...both(
    'aws.evidence.incomplete',
    'what is refused',
    'aws_flow_log',
    { traffic_type: 'ACCEPT' },
    { traffic_type: 'ALL' },
  ),
  ...both(
    'aws.evidence.stopped',
    'a feature of a detector',
    'aws_guardduty_detector_feature',
    { status: 'DISABLED' },
    { status: 'ENABLED' },
  ),
  bad(
    'aws.evidence.removed',
    'logs of a cluster',
    'aws_eks_cluster',
    { enabled_cluster_log_types: [] },
    {
      actions: ['update'],
      before: { enabled_cluster_log_types: ['audit'] },
    },
  ),
  bad('aws.evidence.removed', 'a feature of a detector', 'aws_guardduty_detector_feature', null, deleted()),
  fine('aws.evidence.removed', 'a filter of findings', 'aws_guardduty_filter', null, deleted()),
]

export const awsExposureCases: Case[] = [...exposure, ...records]
