import { itemsOf, type Json, memberOf } from '../../base/json.ts'
import { wordsOf } from '../../base/text.ts'
import { withoutIndexes } from '../addresses.ts'
import { modulesOf, type Plan } from '../plan.ts'

/** The parts of an ARN `arn:<partition>:<service>:<region>:<account>:<resource>`. */
interface Arn {
  partition: string
  region: string
  account: string
  resource: string
  /** Region of the block's provider; null when the code does not state it. */
  providerRegion: string | null
}

/** Returns the identifier that the AWS provider expects for an ARN. */
type Form = (arn: Arn) => string

const lastSegment: Form = ({ resource }) =>
  resource.slice(Math.max(resource.lastIndexOf('/'), resource.lastIndexOf(':')) + 1)
const wholeResource: Form = ({ resource }) => resource
/** Returns everything after the first separator: `table/a/b` becomes `a/b`. */
const afterFirstSeparator: Form = ({ resource }) => resource.replace(/^[a-z-]+[:/]/i, '')
/** Appends the region unless the provider works there. Only version 6 of the provider understands `name@region`. */
const withRegion =
  (form: Form): Form =>
  (arn) =>
    arn.region === arn.providerRegion ? form(arn) : `${form(arn)}@${arn.region}`

const afterLast =
  (marker: string): Form =>
  ({ resource }) =>
    resource.includes(marker) ? resource.slice(resource.lastIndexOf(marker) + marker.length) : ''

/** Forms with the types that are imported by them; types that are imported by ARN are not listed. */
const FORMS: readonly (readonly [form: Form, types: string])[] = [
  [
    lastSegment,
    `
    aws_instance aws_vpc aws_subnet aws_security_group aws_internet_gateway aws_egress_only_internet_gateway
    aws_nat_gateway aws_route_table aws_network_acl aws_network_interface aws_ebs_volume aws_ebs_snapshot
    aws_ami aws_eip aws_vpc_endpoint aws_vpc_peering_connection aws_vpc_dhcp_options aws_flow_log
    aws_launch_template aws_customer_gateway aws_vpn_gateway aws_vpn_connection aws_ec2_transit_gateway
    aws_ec2_managed_prefix_list aws_efs_file_system aws_efs_access_point aws_kms_key aws_cloudfront_distribution
    aws_route53_zone aws_iam_role aws_iam_user aws_iam_group aws_iam_instance_profile
    aws_vpc_security_group_ingress_rule aws_vpc_security_group_egress_rule aws_vpc_endpoint_service aws_vpc_ipam
    aws_ec2_transit_gateway_vpc_attachment aws_ec2_transit_gateway_route_table aws_ec2_client_vpn_endpoint
    aws_ec2_capacity_reservation aws_spot_fleet_request aws_kms_replica_key aws_route53_health_check
    aws_route53_resolver_endpoint aws_api_gateway_rest_api aws_apigatewayv2_api aws_appsync_graphql_api
    aws_cognito_user_pool aws_backup_plan aws_emr_cluster aws_fsx_lustre_file_system aws_fsx_ontap_file_system
    aws_fsx_openzfs_file_system aws_fsx_windows_file_system aws_guardduty_detector
    aws_lambda_event_source_mapping aws_mq_broker aws_mq_configuration aws_transfer_server
    aws_workspaces_workspace`,
  ],
  [
    wholeResource,
    `
    aws_s3_bucket aws_s3_bucket_versioning aws_s3_bucket_server_side_encryption_configuration
    aws_s3_bucket_policy aws_s3_bucket_public_access_block aws_s3_bucket_lifecycle_configuration
    aws_s3_bucket_ownership_controls aws_s3_bucket_logging aws_s3_bucket_acl aws_s3_bucket_cors_configuration
    aws_s3_bucket_notification`,
  ],
  [
    withRegion(afterFirstSeparator),
    `
    aws_lambda_function aws_dynamodb_table aws_db_instance aws_rds_cluster aws_db_subnet_group
    aws_db_parameter_group aws_eks_cluster aws_ecs_cluster aws_ecr_repository aws_redshift_cluster
    aws_kinesis_stream aws_elasticache_cluster aws_elasticache_replication_group aws_elasticache_subnet_group
    aws_cloudwatch_metric_alarm aws_athena_workgroup aws_backup_vault aws_batch_compute_environment
    aws_cloudwatch_composite_alarm aws_cloudwatch_event_bus aws_cloudwatch_event_rule
    aws_cloudwatch_metric_stream aws_codebuild_project aws_dax_cluster aws_db_cluster_snapshot
    aws_db_event_subscription aws_db_option_group aws_db_snapshot aws_docdb_cluster aws_docdb_cluster_instance
    aws_docdb_cluster_parameter_group aws_docdb_subnet_group aws_ecs_service aws_elastic_beanstalk_application
    aws_elasticache_parameter_group aws_elasticache_serverless_cache aws_elasticache_user
    aws_elasticache_user_group aws_elasticsearch_domain aws_elb aws_glue_crawler aws_glue_job aws_glue_trigger
    aws_key_pair aws_memorydb_cluster aws_neptune_cluster aws_neptune_cluster_instance
    aws_neptune_cluster_parameter_group aws_neptune_subnet_group aws_opensearch_domain aws_placement_group
    aws_rds_cluster_instance aws_rds_cluster_parameter_group aws_redshift_parameter_group
    aws_redshift_subnet_group aws_resourcegroups_group aws_sagemaker_endpoint
    aws_sagemaker_endpoint_configuration aws_sagemaker_model aws_sagemaker_notebook_instance
    aws_scheduler_schedule aws_ses_domain_identity aws_timestreamwrite_database`,
  ],
  // Names that are unique in the account without a region.
  [
    afterFirstSeparator,
    `
    aws_cloudfront_function aws_cloudwatch_dashboard aws_cognito_identity_pool aws_rds_global_cluster`,
  ],
  // The name is everything after the account.
  [withRegion(wholeResource), 'aws_codecommit_repository aws_codepipeline aws_kms_alias'],
  // The ARNs end in `nodegroup/<cluster>/<name>/<uuid>`.
  [
    withRegion(({ resource }) => resource.split('/').slice(1, 3).join(':')),
    'aws_eks_addon aws_eks_fargate_profile aws_eks_node_group',
  ],
  [withRegion((arn) => afterFirstSeparator(arn).replace(/:\*$/, '')), 'aws_cloudwatch_log_group'],
  [withRegion(afterLast('autoScalingGroupName/')), 'aws_autoscaling_group'],
  [withRegion(afterLast('launchConfigurationName/')), 'aws_launch_configuration'],
  [withRegion(({ resource }) => resource.split('/')[1] ?? ''), 'aws_cloudformation_stack'],
  [withRegion(({ resource }) => resource.split('/').filter(Boolean)[1] ?? ''), 'aws_keyspaces_keyspace'],
  [withRegion((arn) => `${arn.account}:${afterFirstSeparator(arn)}`), 'aws_glue_catalog_database aws_s3_access_point'],
  // The ARN leaves out the leading slash of a path.
  [withRegion((arn) => afterFirstSeparator(arn).replace(/^(?=[^/]+\/)/, '/')), 'aws_ssm_parameter'],
  [webAclId, 'aws_wafv2_web_acl'],
  [queueUrl, 'aws_sqs_queue'],
]
const FORM_OF = new Map(FORMS.flatMap(([form, types]) => wordsOf(types).map((type) => [type, form] as const)))

/** The id is globally unique. */
function webAclId({ resource }: Arn): string {
  const [scope = '', , name = '', id = ''] = resource.split('/')
  return `${id}/${name}/${scope === 'global' ? 'CLOUDFRONT' : 'REGIONAL'}`
}

function queueUrl({ partition, region, account, resource }: Arn): string {
  return `https://sqs.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}/${account}/${resource}`
}

/**
 * Returns the identifier with which the AWS provider imports a resource listed by ARN; null for the ARN itself or an
 * unknown form.
 * @param address address of the resource block
 * @param resourceId ARN of the resource
 * @param providerRegion region of the block's provider; null when the code does not state it
 */
export function awsImportId(address: string, resourceId: string, providerRegion: string | null = null): string | null {
  const type = withoutIndexes(address).split('.').at(-2) ?? ''
  const form = FORM_OF.get(type)
  const arn = /^arn:(aws[a-z-]*):[a-z0-9-]+:([a-z0-9-]*):(\d*):(.+)$/.exec(resourceId)
  if (!form || !arn) return null
  const [, partition = '', region = '', account = '', resource = ''] = arn
  const id = form({ partition, region, account, resource, providerRegion })
  return id === '' || id.startsWith('@') || id.endsWith('@') || id === resourceId ? null : id
}

/** Returns the region of a block's provider, if it is a constant or a root variable; null for any other. */
export function providerRegion(plan: Plan, address: string): string | null {
  const path = withoutIndexes(address).split('.')
  const block = path.slice(-2).join('.')
  const configuration = plan.document.configuration
  const module = modulesOf(plan).find((one) => one.address === path.slice(0, -2).join('.'))?.module
  const resource = itemsOf(module?.resources).find((one) => memberOf(one, 'address') === block)
  const key = memberOf(resource, 'provider_config_key')
  if (typeof key !== 'string') return null
  const provider = memberOf(memberOf(configuration, 'provider_config'), key)
  const region = memberOf(memberOf(provider, 'expressions'), 'region')
  return textOf(memberOf(region, 'constant_value')) ?? variableOf(plan, region)
}

const textOf = (value: Json | undefined) => (typeof value === 'string' && value !== '' ? value : null)

/** Returns the value of a variable that is the whole expression; other expressions are not evaluated. */
function variableOf(plan: Plan, expression: Json | undefined): string | null {
  const [reference, ...others] = itemsOf(memberOf(expression, 'references'))
  const name = typeof reference === 'string' && others.length === 0 ? /^var\.([\w-]+)$/.exec(reference)?.[1] : undefined
  return name === undefined ? null : textOf(memberOf(memberOf(plan.document.variables, name), 'value'))
}
